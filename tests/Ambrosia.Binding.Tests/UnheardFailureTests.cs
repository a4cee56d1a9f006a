using System.Globalization;
using Ambrosia.Protocol.Records;
using static Ambrosia.Binding.Tests.FakeCoordinator;

namespace Ambrosia.Binding.Tests;

/// <summary>
/// A failure of a call or a task that nobody awaits is told once for each place, and is part of nothing that is replayed.
/// </summary>
public sealed class UnheardFailureTests
{
    private static FakeCoordinator Begun(bool primary = true)
    {
        var begun = new FakeCoordinator(ImmortalDefinition.Of<Careless>());
        begun.Welcome();
        begun.DeliverWith(0, 1000, FirstStart(), Peer(1, "bank2"), Peer(2, "bank3"));
        if (primary) begun.BecomePrimary();
        return begun;
    }

    private static byte[] TaskFailed(ulong task)
    {
        var encoded = new System.Buffers.ArrayBufferWriter<byte>();
        Failures.FailureCodec.Write(encoded, new FormatException("no number"));
        return RecordKinds.EncodeWhole(new NondetResultRecord(task, true, encoded.WrittenMemory));
    }

    private static string[] Told(FakeCoordinator coordinator) =>
        [.. coordinator.Lines.Where(static line => line.Contains("nobody has awaited it", StringComparison.Ordinal))];

    /// <summary>Lets every timer fire that is due within a moment.</summary>
    private static void FireAll(FakeCoordinator coordinator)
    {
        foreach (string line in coordinator.Said.Where(static line => line.Contains(" due ", StringComparison.Ordinal)).ToArray())
        {
            string[] words = line.Split(' ');
            ulong timer = ulong.Parse(words[1], CultureInfo.InvariantCulture);
            long due = long.Parse(words[3], CultureInfo.InvariantCulture);
            if (due < 100_000) coordinator.DeliverWith(0, due, Fired(timer, due));
        }
        coordinator.Said.Clear();
    }

    private static void Wait(FakeCoordinator coordinator)
    {
        coordinator.Tasks.Clock.Advance(TimeSpan.FromSeconds(11));
        coordinator.Session.InputDry();
    }

    [Theory]
    [InlineData("method", "Careless.Work has failed")]
    [InlineData("atOnce", "before it waited has failed")]
    [InlineData("task", "Careless.Begin has failed")]
    public void Failure_ThatNobodyAwaits_IsToldOnceForItsPlace(string how, string place)
    {
        FakeCoordinator coordinator = Begun();
        for (ulong i = 1; i <= 2; i++)
        {
            coordinator.DeliverWith(0, 1000, Fork(1, how));
            FireAll(coordinator);
            if (how == "task") coordinator.Deliver(TaskFailed(i));
        }
        Assert.Empty(Told(coordinator));

        Wait(coordinator);

        Assert.Contains(place, Assert.Single(Told(coordinator)), StringComparison.Ordinal);
        Assert.Null(coordinator.Session.End);
    }

    /// <summary>Several are begun, and awaited one after another: the second fails before its turn comes.</summary>
    [Theory]
    [InlineData("awaited")]
    [InlineData("joined")]
    [InlineData("givenUp")]
    public void Failure_ThatIsAwaitedInTime_IsNotTold(string how)
    {
        FakeCoordinator coordinator = Begun();
        coordinator.DeliverWith(0, 1000, Fork(1, how));
        if (how != "givenUp") coordinator.Deliver(TaskFailed(1));
        FireAll(coordinator);

        Wait(coordinator);

        Assert.Empty(Told(coordinator));
        Assert.Equal("heard", Assert.Single(coordinator.Immortal<Careless>().Seen));
    }

    /// <summary>Replicas that are not primary execute the same, and the images are equal whether it was told or not.</summary>
    [Fact]
    public void Failure_OnASecondary_IsNotToldAndTheImagesAreEqual()
    {
        FakeCoordinator primary = Begun(), secondary = Begun(primary: false);
        foreach (FakeCoordinator each in new[] { primary, secondary })
        {
            each.DeliverWith(0, 1000, Fork(1, "method"));
            FireAll(each);
            Wait(each);
            each.Deliver(Mark());
        }

        Assert.Single(Told(primary));
        Assert.Empty(Told(secondary));
        Assert.Equal(primary.Image, secondary.Image);
    }
}

public interface ICareless
{
    [MethodId(1)]
    Call Begin(string how);
}

/// <summary>Begins what fails, and awaits it, or not.</summary>
public sealed partial class Careless : Immortal<ICarelessProxy>, ICareless
{
    internal readonly List<string> Seen = [];

    public async Call Begin(string how)
    {
        switch (how)
        {
            case "method": _ = Work(); return;
            case "atOnce": _ = Fails(); return;
            case "task": _ = NondetTask(static () => throw new FormatException("no number")); return;
        }
        try
        {
            if (how == "givenUp")
            {
                await Delay(TimeSpan.FromDays(2)).Within(TimeSpan.FromDays(1)).Within(TimeSpan.FromMicroseconds(1));
                return;
            }
            Call task = NondetTask(static () => throw new FormatException("no number"));
            Call delay = Delay(TimeSpan.FromMilliseconds(1));
            if (how == "joined") await Call.WhenAll(task, delay);
            else
            {
                await delay;
                await task;
            }
        }
        catch (Exception e) when (e is RemoteCallException or TimeoutException)
        {
            Seen.Add("heard");
        }
    }

    private async Call Work()
    {
        await Delay(TimeSpan.FromMilliseconds(1));
        throw new InvalidOperationException("nobody hears it");
    }

    private static async Call Fails() => throw new InvalidOperationException("nobody hears it");
}
