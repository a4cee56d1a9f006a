using Ambrosia.Protocol.Frames;
using static Ambrosia.Binding.Tests.FakeCoordinator;

namespace Ambrosia.Binding.Tests;

/// <summary>Methods that are suspended in an immortal go on in the one that was made of it, if their bodies are the same.</summary>
public sealed class SuccessorTests
{
    private const uint Price = 1;

    [Fact]
    public void Method_SuspendedInTheOldClass_GoesOnInTheNewOne()
    {
        FakeCoordinator first = Started<TillV1>();
        first.Deliver(Call(1, 7, "tea"));
        FakeCoordinator second = Succeeded(first);
        second.Deliver(Result(Price, 1, 2, 5));
        TillV2 till = second.Immortal<TillV2>();
        Assert.Equal(9, till._goods["tea"].Pieces); // the local and the state are still one object
        Assert.Equal((4, 7), (till._factor, till._added));

        second.Deliver(Result(Price, 2, 2, 6));
        Assert.Contains($"result bank2 1 #7 {(5 + 6) * 4}", second.Said);
        Assert.Equal(10, first.Immortal<TillV1>()._goods["tea"].Pieces);
    }

    /// <summary>Closures, lambdas without captures and methods of the class are those of the new one.</summary>
    [Fact]
    public void Delegates_OfTheOldClass_AreThoseOfTheNewOne()
    {
        FakeCoordinator first = Started<TillV1>();
        first.Deliver(Call(5, 7, "tea"));
        FakeCoordinator second = Succeeded(first);
        second.Deliver(Result(Price, 1, 2, 5));

        Assert.Contains($"result bank2 5 #7 {(5 * 4 + 3) + 5 * 4 + 6 + 10}", second.Said);
    }

    /// <summary>The image of the new class is an ordinary one.</summary>
    [Fact]
    public void Image_OfTheNewClass_ComesOutAgainWithTheSameBytes()
    {
        FakeCoordinator first = Started<TillV1>();
        first.Deliver(Call(1, 7, "tea"), Call(5, 8, "tea"));
        byte[] image = Succeed(first);
        FakeCoordinator second = Restored(image, first.Next.Value);
        second.Deliver(Mark(bound: 1));

        Assert.True(image.AsSpan().SequenceEqual(second.Image));
    }

    [Fact]
    public void Method_WithAnotherBody_IsRefused()
    {
        FakeCoordinator first = Started<TillV1>();
        first.Deliver(Call(1, 7, "tea"), Call(2, 8, "tea"), Call(2, 9, "tea"));
        FakeCoordinator second = Restored(Succeed(first), first.Next.Value);

        Assert.Equal(GoodbyeCode.Refused, second.Session.End!.Code);
        string said = string.Join('\n', second.Lines);
        Assert.Contains("2 suspended calls of Ambrosia.Binding.Tests.TillV2.Changed(string) at await #0", said, StringComparison.Ordinal);
        Assert.Contains("its body changed", said, StringComparison.Ordinal);
        Assert.DoesNotContain("Sell", said, StringComparison.Ordinal);
    }

    /// <summary>The old immortal itself, and a type that only looks like one of the new class's, are named: they cannot go on.</summary>
    [Theory]
    [InlineData(3, "TillV1.Mine(string)", "refers to the TillV1 that is replaced")]
    [InlineData(4, "TillV1.Nested(string)", "a type nested in TillV1 is not that of TillV2")]
    public void Local_ThatBelongsToTheOldClass_IsNamed(int method, string where, string why)
    {
        FakeCoordinator first = Started<TillV1>();
        first.Deliver(Call((uint)method, 7, "tea"));

        NotWritableException refused = Assert.Throws<NotWritableException>(() => Succeed(first));
        Assert.Contains(where, refused.Message, StringComparison.Ordinal);
        Assert.Contains(why, refused.Message, StringComparison.Ordinal);
    }

    private static byte[] Succeed(FakeCoordinator first) =>
        first.Session.Runtime!.Succeed(static old => new TillV2((TillV1)old)).ToArray();

    private static FakeCoordinator Succeeded(FakeCoordinator first)
    {
        FakeCoordinator second = Restored(Succeed(first), first.Next.Value);
        Assert.Null(second.Session.End);
        return second;
    }

    private static FakeCoordinator Restored(byte[] image, ulong at)
    {
        var second = new FakeCoordinator(ImmortalDefinition.Of<TillV2>());
        second.Welcome(image, at);
        return second;
    }
}
