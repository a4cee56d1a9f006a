using System.Buffers;
using Ambrosia.Binding.Tests.Immortals;
using Ambrosia.Failures;
using Ambrosia.Protocol.Runs;
using static Ambrosia.Binding.Tests.FakeCoordinator;

namespace Ambrosia.Binding.Tests;

/// <summary>Exceptions that both sides of a contract know arrive as themselves; others by their names.</summary>
public sealed class ContractFailureTests
{
    [Theory]
    [InlineData("milk", "closed: closed, the clock")]
    [InlineData("mud", "System.ArgumentException: what is mud?")]
    public void Failure_OfTheContract_ArrivesAsItself(string article, string expected)
    {
        FakeCoordinator stall = Started<Stall>();
        stall.Deliver(Call(2, 7, article));
        stall.Deliver(Thrown(article));
        Assert.Contains($"result bank2 2 #7 '{expected}'", stall.Said);
    }

    [Fact]
    public void Failure_OverARestart_StaysItself()
    {
        FakeCoordinator stall = Started<Stall>();
        stall.DeliverWith(0, 1_000_000, Call(2, 7, "tea"));
        stall.Deliver(Thrown("tea"), Mark(bound: 1));
        var restored = new FakeCoordinator(ImmortalDefinition.Of<Stall>());
        restored.Welcome(stall.Image, stall.Next.Value);
        restored.DeliverWith(0, 3_000_000, Fired(1, 2_000_000));
        Assert.Contains("result bank2 2 #7 'sold out: no tea is left'", restored.Said);
    }

    [Fact]
    public async Task Fail_InAUnitTest_GivesTheContractsException()
    {
        var stall = new Stall();
        Call<string> fetched = stall.Fetch("tea");
        TestSession outside = TestSession.Of(stall);
        outside.Calls[0].Fail(new SoldOutException("none"));
        outside.Advance(TimeSpan.FromSeconds(1));
        Assert.Equal("sold out: none", await fetched);
    }

    /// <summary>The failure of a handler of the same contract, as its bytes travel.</summary>
    private static byte[] Thrown(string article)
    {
        Exception thrown = Assert.ThrowsAny<Exception>(() => new Stall().Sell(article));
        var failure = new ArrayBufferWriter<byte>();
        FailureCodec.Write(failure, thrown);
        return Run(MessageKind.Failure, 1, (1, 1, failure.WrittenSpan.ToArray()));
    }
}
