using Ambrosia.Coordinator.Divergence;
using Ambrosia.Coordinator.Outboxes;
using Ambrosia.Coordinator.Replica;
using Ambrosia.Log.Instances;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Records;
using Ambrosia.Protocol.Runs;
using Ambrosia.TestKit;

namespace Ambrosia.Coordinator.Tests;

/// <summary>What a receiver's log says of one sender, and what is made of it where the sender has diverged.</summary>
public sealed class ReceivedCallsTests : IDisposable
{
    private static readonly InstanceId s_sender = new("sender"), s_receiver = new("self");
    private static readonly Guid s_uuid = new("11111111-2222-3333-4444-555555555555");
    private readonly OpenedLog _log = new();

    // some span pages
    private static byte[] Message(ulong number) => Made.Message(MessageKind.Fork, number, (int)(number % 3 == 0 ? 12_000 : number % 50));

    private void Put(uint origin, ulong first, params byte[][] messages) =>
        Put(Made.Run(MessageKind.Fork, first, 0, messages, peer: origin));

    private void Put(byte[] run)
    {
        while (!_log.Appender.TryAppendRun(RecordKind.Run, RunHeader.Read(run), run.AsSpan(RunHeader.Bytes), static _ => { })) _log.Commit();
        _log.Commit();
    }

    /// <summary>A log that holds the sender's calls up to <paramref name="last"/>, among those of another and of itself.</summary>
    private void Fill(ulong last, Func<ulong, byte[]>? message = null)
    {
        message ??= Message;
        _log.Append(new PeerRecord(1, new InstanceId("other"), Guid.Empty, new Epoch(1)));
        _log.Append(new PeerRecord(2, s_sender, s_uuid, new Epoch(1)));
        for (ulong number = 1; number <= last; number += 2)
        {
            Put(2, number, number < last ? [message(number), message(number + 1)] : [message(number)]);
            Put(1, number, Message(1), Message(1));
            Put(0, number, Message(2), Message(2));
        }
    }

    private ReceivedCalls Open(InstanceId of, Guid uuidOfSender)
    {
        ReceivedCalls? calls = ReceivedCalls.TryOpen(_log.Disk, OpenedLog.Directory, s_receiver, _log.Identity.Uuid, of, uuidOfSender,
            out string why);
        Assert.True(calls is not null, why);
        return calls;
    }

    [Fact]
    public void TryFind_EveryNumber_GivesTheSendersMessage()
    {
        Fill(31);
        using ReceivedCalls calls = Open(s_sender, s_uuid);
        for (ulong number = 1; number <= 31; number++)
        {
            Assert.True(calls.TryFind(number, out MessageKind kind, out ReadOnlySpan<byte> message));
            Assert.Equal((MessageKind.Fork, Convert.ToHexString(Message(number))), (kind, Convert.ToHexString(message)));
        }
        Assert.False(calls.TryFind(32, out _, out _));
    }

    /// <summary>
    /// A replay looks no further in a log than it has executed, or has what it looks for read before it asks: it is found all the same,
    /// and each as often.
    /// </summary>
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void TryFind_WithinSomeBytes_FindsWhatBeginsThere(bool isReadAhead)
    {
        Fill(31);
        using ReceivedCalls calls = Open(s_sender, s_uuid);
        ulong number = 1;
        int steps = 0;
        for (; number <= 31; steps++)
        {
            Assert.InRange(steps, 0, 1_000);
            ulong within = (ulong)steps * 5_000;
            if (isReadAhead) calls.ReadAhead(within, memory: 1 << 20);
            while (calls.TryFind(number, out _, out ReadOnlySpan<byte> message, within))
                Assert.Equal(Message(number++), message.ToArray());
        }
        Assert.True(steps > 10, $"all were found within {steps} steps");
        Assert.False(calls.TryFind(32, out _, out _));
    }

    /// <summary>What comes while a log is followed is compared as what was there: a log that was read to its end is read further.</summary>
    [Fact]
    public void GoOn_BehindTheEnd_FindsWhatHasComeSince()
    {
        Fill(9);
        using ReceivedCalls calls = Open(s_sender, s_uuid);
        for (ulong number = 10; number < 40; number++)
        {
            Assert.False(calls.TryFind(number, out _, out _));
            Put(2, number, Message(number));
            Assert.False(calls.TryFind(number, out _, out _));
            calls.GoOn();
            Assert.True(calls.TryFind(number, out _, out ReadOnlySpan<byte> message));
            Assert.Equal(Message(number), message.ToArray());
        }
    }

    [Fact]
    public void TryFind_CallsToItself_AreThoseOfTheOwnChannel()
    {
        Fill(9);
        using ReceivedCalls calls = Open(s_receiver, _log.Identity.Uuid);
        Assert.True(calls.TryFind(4, out _, out ReadOnlySpan<byte> message));
        Assert.Equal(Message(2), message.ToArray());
    }

    [Fact]
    public void TryFind_AnotherOfTheSendersName_HasNothing()
    {
        Fill(9);
        using ReceivedCalls calls = Open(s_sender, Guid.NewGuid());
        Assert.False(calls.TryFind(1, out _, out _));
    }

    [Fact]
    public void TryOpen_NotTheLogThatWasCalled_SaysSo()
    {
        Assert.Null(ReceivedCalls.TryOpen(_log.Disk, "/data/nowhere", s_receiver, _log.Identity.Uuid, s_sender, s_uuid, out string why));
        Assert.Contains("there is no log at /data/nowhere", why);
        Assert.Null(ReceivedCalls.TryOpen(_log.Disk, OpenedLog.Directory, s_receiver, Guid.NewGuid(), s_sender, s_uuid, out why));
        Assert.Contains("is not that of the self that was called", why);
    }

    // ---- a sender that has diverged ----

    private CallHistory NewHistory() => NewHistory(_log.Identity.Uuid);

    private CallHistory NewHistory(Guid? receiver) =>
        new(_log.Disk, new InstanceIdentity(s_sender.Name, 0, s_uuid, 0), static _ => OpenedLog.Directory, _ => receiver,
            EventRecorder.OfTexts(static line => Assert.Fail(line)));

    /// <summary>The receiver has said nothing that is in the sender's log by now, but it has the calls.</summary>
    [Fact]
    public void History_OfAReceiverThatTheOwnLogDoesNotKnow_IsFoundByTheCatalog()
    {
        Fill(9);
        using CallHistory history = NewHistory(receiver: null);
        Assert.True(history.TryFind(s_receiver, 9, out _, out ReadOnlySpan<byte> message, out _));
        Assert.Equal(Message(9), message.ToArray());
    }

    private static byte[][] Emitted(ulong wrong) => [.. Enumerable.Range(1, 9).Select(n => Message((ulong)n == wrong ? 40 : (ulong)n))];

    [Fact]
    public void Emitted_OtherCallAtAnyNumber_NamesItAndTheRecord()
    {
        Fill(9);
        for (ulong wrong = 0; wrong <= 9; wrong++)
        {
            using CallHistory history = NewHistory();
            var replay = new DivergenceReplay(Lsn.Zero, history);
            DivergenceException? found = null;
            byte[][] all = Emitted(wrong);
            for (int n = 0; n < 9 && found is null; n += 3)
            {
                replay.Executed(new Lsn(1000 + (ulong)n));
                byte[] run = Made.Run(MessageKind.Fork, 0, 0, all[n..(n + 3)]);
                try
                {
                    replay.Emitted(s_receiver, (ulong)n, RunView.Read(run));
                }
                catch (DivergenceException divergence)
                {
                    found = divergence;
                }
            }
            if (wrong == 0) Assert.Null(found);
            else Assert.StartsWith($"{DivergenceReplay.Found}{1000 + (wrong - 1) / 3 * 3} ", found!.Message);
            if (wrong > 0) Assert.Contains($" makes call {wrong} to self: expected a fork of method {1 + wrong}, ", found!.Message);
            if (wrong > 0) Assert.Contains("; actual a fork of method 41, 40 bytes: ", found!.Message);
        }
    }

    [Theory]
    [InlineData(0, 9, 9, null)]
    [InlineData(5, 9, 9, "call 5 to self: expected a fork of method 6, 5 bytes: 9ba2a9b0b7; actual a fork of method 41, 40 bytes: ")]
    [InlineData(0, 9, 7, "call 8 to self: expected a fork of method 9, 8 bytes: f8ff060d141b2229; actual none")]
    public void FirstLook_OutboxOfOneThatDiverged_NamesTheCall(ulong wrong, int counted, int made, string? expected)
    {
        Fill(9);
        using var bench = new OutboxBench();
        Outbox outbox = bench.Set.GetOrAdd(s_receiver);
        bench.AppendAll([Made.Run(MessageKind.Fork, 0, 0, Emitted(wrong)[..made])], outbox);
        outbox.Trim(2); // what is trimmed is not there any more
        using CallHistory history = NewHistory();
        List<string> found = DivergenceDiagnosis.At(bench.Set,
            new DivergedStretch(Lsn.Zero, new Lsn(1),
                [new DigestEntry(s_receiver, (ulong)counted, wrong == 0 && made == counted ? outbox.Known.Hash : 1)]), history);
        if (expected is null) Assert.Empty(found);
        else Assert.StartsWith(expected, Assert.Single(found));
    }

    [Fact]
    public void Of_LongArguments_ShowsThemAroundTheDifference()
    {
        byte[] one = Made.Raw(7, new byte[300]), other = [.. one];
        other[200] = 0xAB;
        DifferingCall differs = DifferingCall.Of(s_receiver, 3, MessageKind.Fork, one, MessageKind.Fork, other)!;
        Assert.Contains("300 bytes: [from ", differs.Expected);
        Assert.Contains("…0000000000000000ab00", differs.Actual);
        Assert.Null(DifferingCall.Of(s_receiver, 3, MessageKind.Fork, one, MessageKind.Fork, one));
        Assert.NotNull(DifferingCall.Of(s_receiver, 3, MessageKind.Fork, one, MessageKind.Call, one));
    }

    public void Dispose() => _log.Dispose();
}
