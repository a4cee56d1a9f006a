using System.Text;
using static Ambrosia.Binding.Tests.FakeCoordinator;

namespace Ambrosia.Binding.Tests;

/// <summary>
/// An exception that is alive over an await is state. When it is let through behind a restore, the runtime may be another than the one that
/// worded it, and does not know the words; the image has to say whose they are.
/// </summary>
public sealed class RestoredFailureTests
{
    /// <summary>The mark's bound lies at the mark itself, so the image is taken while handlers are suspended.</summary>
    private const ulong AtOnce = 1;

    private const string Words = "The given key 'bob' was not present in the dictionary.";

    [Fact]
    public void Failure_OfARuntimeWithOtherWords_TravelsAsItDidThere()
    {
        (FakeCoordinator first, FakeCoordinator second) = TwoRuntimes();
        byte[][] rest = [Result(2, 1, 1, 5), Result(2, 2, 1, 5)];
        first.Said.Clear();
        first.Deliver(rest);
        second.Deliver(rest);

        const string Lost = "System.Collections.Generic.KeyNotFoundException", Refused = "System.InvalidOperationException";
        Assert.Equal(first.Said, second.Said);
        Assert.Contains($"failure bank2 1 #7 ['{Lost}' '{Lost} was thrown.' null]", second.Said);
        Assert.Contains($"failure bank2 2 #8 ['{Refused}' 'https://example.org/' ['{Refused}' 'no eve here' null]]", second.Said);
    }

    [Fact]
    public void Image_OfARestoredFailure_HasTheSameBytes()
    {
        (FakeCoordinator first, FakeCoordinator second) = TwoRuntimes();
        second.Deliver(Mark(bound: AtOnce));
        first.Deliver(Mark(bound: AtOnce));
        Assert.Equal(first.Image, Replaced(second.Image, Words.ToUpperInvariant(), Words));
    }

    /// <summary>One with two suspended handlers that hold failures, and one restored from its image with other words in one.</summary>
    private static (FakeCoordinator First, FakeCoordinator Second) TwoRuntimes()
    {
        FakeCoordinator first = Started<Searcher>();
        first.Deliver(Call(1, 7, "bob"), Call(2, 8, "eve"), Mark(bound: AtOnce));
        byte[] reworded = Replaced(first.Image, Words, Words.ToUpperInvariant());
        return (first, Restored(reworded, first.Next.Value));
    }

    private static byte[] Replaced(byte[] image, string from, string to)
    {
        int at = image.AsSpan().IndexOf(Encoding.UTF8.GetBytes(from));
        Assert.True(at > 0, $"the image does not hold '{from}'");
        byte[] edited = [.. image];
        Encoding.UTF8.GetBytes(to).CopyTo(edited, at);
        return edited;
    }

    private static FakeCoordinator Restored(byte[] image, ulong at)
    {
        var coordinator = new FakeCoordinator(ImmortalDefinition.Of<Searcher>());
        coordinator.Welcome(image, at);
        coordinator.Said.Clear();
        Assert.Null(coordinator.Session.End);
        return coordinator;
    }
}
