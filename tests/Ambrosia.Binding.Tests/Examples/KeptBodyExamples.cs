using static Ambrosia.Binding.Tests.FakeCoordinator;

namespace Ambrosia.Binding.Tests.Examples.KeptBodies;

public interface ILibrary
{
    [MethodId(1)]
    Call<string> Lend(string book);
}

public sealed partial class Library : Immortal<ILibrary>, ILibrary
{
    #region kept body
    public async Call<string> Lend(string book)
    {
        await Delay(TimeSpan.FromDays(30));
        return $"Please bring {book} back, or renew it.";
    }

    [Formerly(nameof(Lend))] // until nothing is suspended in it any more
    private async Call<string> LendUntilJune(string book)
    {
        await Delay(TimeSpan.FromDays(30));
        return $"Bring {book} back.";
    }
    #endregion
}

public sealed class KeptBodyExamples
{
    private const long Month = 30L * 24 * 60 * 60 * 1_000_000; // µs

    [Fact]
    public void Call_OfTheExample_RunsTheNewBody()
    {
        FakeCoordinator library = Started<Library>();
        library.DeliverWith(0, 0, Call(1, 7, "Moby-Dick"));
        library.DeliverWith(0, Month, Fired(1, Month));

        Assert.Contains("result bank2 1 #7 'Please bring Moby-Dick back, or renew it.'", library.Said);
    }
}
