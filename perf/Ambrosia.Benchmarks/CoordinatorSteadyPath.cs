using Ambrosia.Coordinator.AppSessions;
using Ambrosia.Coordinator.Inbox;
using Ambrosia.Coordinator.LogFeed;
using Ambrosia.Coordinator.Outboxes;
using Ambrosia.Coordinator.Replica;
using Ambrosia.Log.Commit;
using Ambrosia.Log.Fencing;
using Ambrosia.Log.Files;
using Ambrosia.Log.Format;
using Ambrosia.Log.Instances;
using Ambrosia.Log.Recovery;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Runs;
using BenchmarkDotNet.Attributes;

namespace Ambrosia.Benchmarks;

/// <summary>
/// The coordinators' share of one message on the steady path: the sender's (app's stream → outbox → link) and the receiver's (link → log
/// page → write, flush, fence check), with real files. Per message nothing may be allocated; per run of 4,096 a little is.
/// </summary>
[MemoryDiagnoser]
public class CoordinatorSteadyPath
{
    private const int Messages = 4096, MessageBytes = 18;

    private readonly string _directory = Directory.CreateTempSubdirectory("ambrosia-bench-").FullName;
    private readonly PosixFileSystem _files = new();
    private readonly BlockPool _pool = new();
    private readonly byte[] _appFrame = new byte[FrameHeader.Bytes + RunHeader.Bytes + Messages * MessageBytes];
    private readonly byte[] _wire = new byte[FrameHeader.Bytes + RunHeader.Bytes + Messages * MessageBytes];
    private Outbox _outbox = null!;
    private SendCursor _link = null!;
    private AppReader _reader = null!;
    private InboundRuns _inbound = null!;
    private DedupTable _ledger = null!;
    private InboundChannel _origin = null!;
    private LogAppender _appender = null!;
    private Committer _committer = null!;
    private LogWriter _log = null!;
    private ulong _sent;

    [GlobalSetup]
    public void Setup()
    {
        for (int i = 0; i < Messages; i++)
        {
            Span<byte> message = _appFrame.AsSpan(FrameHeader.Bytes + RunHeader.Bytes + i * MessageBytes);
            message[0] = MessageBytes - 1;
            message[1] = 1;
        }
        new RunHeader(MessageKind.Fork, false, 0, 0, 0, Messages, 0, 0).Write(_appFrame.AsSpan(FrameHeader.Bytes));
        new FrameHeader((uint)(_appFrame.Length - FrameHeader.Bytes), FrameType.Run, 0).Write(_appFrame, 0);

        var scratch = new ScratchFile(_files, Path.Combine(_directory, "scratch"), 1 << 30);
        _outbox = new Outbox(new InstanceId("sink"), 0, scratch, new MemoryBudget(_pool, 64));
        _link = new SendCursor(_outbox, 7, SizeLimits.MessageBytesMaxDefault);
        _reader = new AppReader(_pool, new OneOutbox(_outbox));

        string sink = Path.Combine(_directory, "sink");
        InstanceIdentity identity = InstanceDirectory.Create(_files, sink, "sink", 0, Guid.NewGuid(), 1, "r0", Crash.Points);
        var claimed = (ClaimResult.Claimed)PrimaryClaim.TryClaim(_files, sink, identity, "r0", Crash.Points);
        PrimaryLog open = TakeOver.Execute(
            new LogLocation(_files, sink, identity) { Crash = Crash.Points }, claimed.Fence, "r0", new LogOptions(), TimeProvider.System);
        _log = open.Writer;
        _ledger = new DedupTable(new InstanceId("sink"));
        if (!_ledger.TryAdmit(new InstanceId("fountain"), Guid.NewGuid(), new Epoch(1), out _origin!, out string? why))
            throw new InvalidOperationException(why);
        _appender = new LogAppender(ReplicaLog.Of(open.Writer), open.Writer.ReserveBytesMax, static _ => { });
        _inbound = new InboundRuns(_appender, _ledger, _origin, 1 << 20);
        var owed = new List<IInboundLink>();
        _committer = new Committer(open.Writer, durable => _ledger.AdvanceDurable(durable, owed, out _));
    }

    [GlobalCleanup]
    public void Cleanup() => Directory.Delete(_directory, recursive: true);

    [Benchmark(OperationsPerInvoke = Messages, Baseline = true)]
    public void Sender()
    {
        Send();
        _outbox.Trim(_sent);
    }

    private void Send()
    {
        for (int at = 0; at < _appFrame.Length;)
        {
            Span<byte> space = _reader.Space().Span;
            int piece = Math.Min(space.Length, _appFrame.Length - at);
            _appFrame.AsSpan(at, piece).CopyTo(space);
            at += piece;
            _reader.Received(piece);
        }
        _sent += Messages;
        while (_link.TryTake(out ReadOnlyMemory<byte> bytes))
        {
            bytes.Span.CopyTo(_wire);
            _link.Taken();
        }
        _link.Acknowledged(_sent);
    }

    [Benchmark(OperationsPerInvoke = Messages)]
    public void SenderAndDurableReceiver()
    {
        Send();
        if (!_inbound.TryTake(RunAtPlace())) throw new InvalidOperationException("no room in the log");
        while (_committer.Step() != CommitStep.Park || _log.IsAwaitingSpace)
            if (_log.IsAwaitingSpace) _log.PrepareSpace();
        _outbox.Trim(_sent);
    }

    /// <summary>The run as the receiver wants it: the next of its channel, whatever ran before.</summary>
    private ReadOnlySpan<byte> RunAtPlace()
    {
        Span<byte> run = _wire.AsSpan(FrameHeader.Bytes);
        RunHeader header = RunHeader.Read(run);
        (header with { First = _ledger.AppendedOf(_origin).Number + 1 }).Write(run);
        return run;
    }

    private sealed class OneOutbox(Outbox outbox) : IAppFrames
    {
        public uint PayloadBytesMax => 1 << 20;

        public bool LogWaits => false;

        public bool IsStranger => false;

        public ReadAnswer Run(BlockPool.Block block, int frameAt, in RunView run, int runBytes)
        {
            MessageScanner.Check(run.Messages, run.Header.Count, 1 << 20);
            outbox.Append(block, frameAt, run, runBytes);
            return ReadAnswer.More;
        }

        public ReadAnswer Control(FrameType type, ReadOnlySpan<byte> payload) => ReadAnswer.More;

        public void Pause(bool drained)
        {
        }
    }
}
