using Ambrosia.Coordinator;
using Ambrosia.Log;
using Ambrosia.Protocol;
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

    private readonly string directory = Directory.CreateTempSubdirectory("ambrosia-bench-").FullName;
    private readonly PosixFileSystem files = new();
    private readonly BlockPool pool = new();
    private readonly byte[] appFrame = new byte[FrameHeader.Bytes + RunHeader.Bytes + Messages * MessageBytes];
    private readonly byte[] wire = new byte[FrameHeader.Bytes + RunHeader.Bytes + Messages * MessageBytes];
    private Outbox outbox = null!;
    private OutboundLink link = null!;
    private AppReader reader = null!;
    private InboundRuns inbound = null!;
    private InputLedger ledger = null!;
    private Origin origin = null!;
    private LogAppender appender = null!;
    private Committer committer = null!;
    private LogWriter log = null!;
    private ulong sent;

    [GlobalSetup]
    public void Setup()
    {
        for (int i = 0; i < Messages; i++)
        {
            Span<byte> message = appFrame.AsSpan(FrameHeader.Bytes + RunHeader.Bytes + i * MessageBytes);
            message[0] = MessageBytes - 1;
            message[1] = 1;
        }
        new RunHeader(MessageKind.Fork, false, 0, 0, 0, Messages, 0, 0).Write(appFrame.AsSpan(FrameHeader.Bytes));
        new FrameHeader((uint)(appFrame.Length - FrameHeader.Bytes), FrameType.Run, 0).Write(appFrame, 0);

        var scratch = new ScratchFile(files, Path.Combine(directory, "scratch"), 1 << 30);
        outbox = new Outbox(new InstanceId("sink"), 0, scratch, new MemoryBound(pool, 64));
        link = new OutboundLink(outbox, 7, Frames.MessageBytesMaxDefault);
        reader = new AppReader(pool, new OneOutbox(outbox));

        string sink = Path.Combine(directory, "sink");
        InstanceIdentity identity = InstanceDirectory.Create(files, sink, "sink", 0, Guid.NewGuid(), 1, "r0", Crash.Points);
        var claimed = (ClaimResult.Claimed)PrimaryClaim.Try(files, sink, identity, "r0", Crash.Points);
        OpenLog open = TakeOver.Run(files, sink, identity, claimed.Fence, "r0", new LogOptions(), TimeProvider.System, Crash.Points);
        log = open.Writer;
        ledger = new InputLedger(new InstanceId("sink"));
        if (!ledger.TryAdmit(new InstanceId("fountain"), Guid.NewGuid(), new Epoch(1), out origin!, out string? why))
            throw new InvalidOperationException(why);
        appender = new LogAppender(ReplicaLog.Of(open.Writer), open.Writer.ReserveBytesMax);
        inbound = new InboundRuns(appender, ledger, origin, 1 << 20);
        var owed = new List<PeerLink>();
        committer = new Committer(open.Writer, durable => ledger.AdvanceDurable(durable, owed, out _));
    }

    [GlobalCleanup]
    public void Cleanup() => Directory.Delete(directory, recursive: true);

    [Benchmark(OperationsPerInvoke = Messages, Baseline = true)]
    public void Sender()
    {
        Send();
        outbox.Trim(sent);
    }

    private void Send()
    {
        for (int at = 0; at < appFrame.Length;)
        {
            Span<byte> space = reader.Space().Span;
            int piece = Math.Min(space.Length, appFrame.Length - at);
            appFrame.AsSpan(at, piece).CopyTo(space);
            at += piece;
            reader.Received(piece);
        }
        sent += Messages;
        while (link.TryTake(out ReadOnlyMemory<byte> bytes))
        {
            bytes.Span.CopyTo(wire);
            link.Taken();
        }
        link.Acknowledged(sent);
    }

    [Benchmark(OperationsPerInvoke = Messages)]
    public void SenderAndDurableReceiver()
    {
        Send();
        if (!inbound.TryTake(RunAtPlace())) throw new InvalidOperationException("no room in the log");
        while (committer.Step() != CommitStep.Park || log.IsAwaitingSpace)
            if (log.IsAwaitingSpace) log.PrepareSpace();
        outbox.Trim(sent);
    }

    /// <summary>The run as the receiver wants it: the next of its channel, whatever ran before.</summary>
    private ReadOnlySpan<byte> RunAtPlace()
    {
        Span<byte> run = wire.AsSpan(FrameHeader.Bytes);
        RunHeader header = RunHeader.Read(run);
        (header with { First = ledger.AppendedOf(origin).Number + 1 }).Write(run);
        return run;
    }

    private sealed class OneOutbox(Outbox outbox) : IAppFrames
    {
        public uint PayloadBytesMax => 1 << 20;

        public bool LogWaits => false;

        public bool IsStranger => false;

        public ReadAnswer Run(BlockPool.Block block, int frameAt, in RunView run, int runBytes)
        {
            Protocol.Messages.Check(run.Messages, run.Header.Count, 1 << 20);
            outbox.Append(block, frameAt, run, runBytes);
            return ReadAnswer.More;
        }

        public ReadAnswer Control(FrameType type, ReadOnlySpan<byte> payload) => ReadAnswer.More;

        public void Pause(bool drained)
        {
        }
    }
}
