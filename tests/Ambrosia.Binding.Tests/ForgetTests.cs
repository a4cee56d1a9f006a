using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Records;
using Ambrosia.Protocol.Runs;
using static Ambrosia.Binding.Tests.FakeCoordinator;

namespace Ambrosia.Binding.Tests;

/// <summary>
/// A Forget record (log-format L5.14): what awaited the old instance fails at its place, and nothing of it reaches the new one.
/// </summary>
public sealed class ForgetTests
{
    private static readonly Guid s_old = new("99999999-8888-7777-6666-555555555555");
    private readonly FakeCoordinator _coordinator = Started<Bank>();

    private static byte[] Forget(uint origin) => RecordKinds.EncodeWhole(new ForgetRecord(origin, s_old));

    [Fact]
    public void Forget_OfACalledPeer_FailsWhoAwaitsItBehindTheReport()
    {
        _coordinator.Deliver(Call(13, 7, "bank3"), Call(3, 8, "bank3", "ann"), Call(3, 9, "bank2", "ann"));
        _coordinator.Said.Clear();
        _coordinator.Deliver(Forget(2), Fork(1, "ann", 5));

        ulong end = _coordinator.Next.Value - (ulong)Fork(1, "ann", 5).Length;
        Assert.Equal($"processed {end}", _coordinator.Said[0]);
        Assert.Contains($"#7 'Ambrosia.PeerForgotten: An operator has given up bank3 ({s_old})", _coordinator.Said[1]);
        Assert.Contains("failure bank2 3 #8 ['Ambrosia.", _coordinator.Said[2]);
        Assert.Contains("An operator has given up bank3", _coordinator.Said[2]);
        Assert.Equal([$"processed {_coordinator.Next}"], _coordinator.Said[3..]); // the call to another still waits
        Assert.Equal(5, _coordinator.Immortal<Bank>().Balance("ann"));

        _coordinator.Deliver(Result(2, 3, 1, 12));
        Assert.Contains("result bank2 3 #9 12", _coordinator.Said);
    }

    [Fact]
    public void Forget_AtADigestMark_IsReportedOnce()
    {
        ulong end = _coordinator.Next.Value + (ulong)Forget(2).Length;
        _coordinator.DeliverWith(end, 0, Forget(2), Fork(1, "ann", 5));
        Assert.Equal([$"processed {end}", $"processed {_coordinator.Next}"], _coordinator.Said);
    }

    /// <summary>Both number their calls from 1: an answer to the old one's would be taken for one to the new one's.</summary>
    [Fact]
    public void Answer_OwedToAForgottenCaller_IsSentToNobody()
    {
        _coordinator.Deliver(Call(3, 7, "bank3", "ann"), Forget(1), Peer(3, "bank2"),
            Run(MessageKind.Call, 3, (3, 7, Cbor.Of("bank3", "bob"))));
        _coordinator.Said.Clear();
        _coordinator.Deliver(Result(2, 1, 2, 12));
        Assert.Equal([$"processed {_coordinator.Next}"], _coordinator.Said);
        _coordinator.Deliver(Result(2, 2, 2, 13));
        Assert.Contains("result bank2 3 #7 13", _coordinator.Said);
    }

    [Fact]
    public void Image_WithAnAnswerOwedToAForgottenCaller_StillOwesItToNobody()
    {
        _coordinator.Deliver(Call(3, 7, "bank3", "ann"), Forget(1), Run(MessageKind.Fork, 2, (1, 0, Cbor.Of("ann", 5))), Mark(bound: 1),
            Peer(3, "bank2"));
        Assert.NotEmpty(_coordinator.Image);
        var restored = new FakeCoordinator(ImmortalDefinition.Of<Bank>());
        restored.Welcome(_coordinator.Image, _coordinator.Next.Value - (ulong)Peer(3, "bank2").Length);
        restored.Said.Clear();
        restored.Deliver(Peer(3, "bank2"), Result(2, 1, 2, 12), Run(MessageKind.Call, 3, (2, 7, Cbor.Of("ann"))));
        Assert.Equal("result bank2 2 #7 5",
            Assert.Single(restored.Said, static line => line.StartsWith("result", StringComparison.Ordinal)));
    }

    [Fact]
    public void Image_BehindAForget_KnowsWhoIsGone()
    {
        _coordinator.Deliver(Fork(1, "ann", 5), Forget(1), Mark());
        var restored = new FakeCoordinator(ImmortalDefinition.Of<Bank>());
        restored.Welcome(_coordinator.Image, _coordinator.Next.Value);
        restored.Deliver(Peer(3, "bank2"), Run(MessageKind.Call, 3, (2, 1, Cbor.Of("ann"))));
        Assert.Contains("result bank2 2 #1 5", restored.Said);
        restored.Deliver(Forget(1));
        Assert.Contains("L5.14", restored.Said[^1]);
    }

    [Fact]
    public async Task Impulse_AwaitedWhenItsReceiverIsForgotten_HasAnUnknownFateAndLaterOnesGoOn()
    {
        _coordinator.BecomePrimary();
        IBankProxy other = _coordinator.Immortal<Bank>().Proxy("bank3");
        Task? first = null, second = null;
        OnAnotherThread(() => first = other.UserInputLogged("one").AsTask());
        _coordinator.Listen();
        _coordinator.Deliver(Forget(2));
        await Assert.ThrowsAsync<ImpulseOutcomeUnknownException>(() => first!);
        OnAnotherThread(() => second = other.UserInputLogged("two").AsTask());
        _coordinator.Said.Clear();
        _coordinator.Listen();
        Assert.Equal(["impulse bank3 11 ticket 2 'two'"], _coordinator.Said);
        _coordinator.Send(new ImpulseLogged(1, 2));
        await second!.WaitAsync(TimeSpan.FromSeconds(30));
    }

    [Fact]
    public void Forget_OfOneThatIsNone_EndsTheSession()
    {
        _coordinator.Deliver(Forget(3));
        Assert.Contains("L5.4", _coordinator.Said[^1]);
        FakeCoordinator twice = Started<Bank>();
        twice.Deliver(Forget(2), Forget(2));
        Assert.Contains("L5.14", twice.Said[^1]);
    }

    private static void OnAnotherThread(Action act)
    {
        var thread = new Thread(() => act());
        thread.Start();
        thread.Join();
    }
}
