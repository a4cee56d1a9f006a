using Ambrosia.Protocol;
using Ambrosia.Protocol.Records;
using Ambrosia.Protocol.Runs;

namespace Ambrosia.Tools.Tests;

/// <summary>Makes a log that has a message of every kind, in several pages. The clock goes on by a second a page.</summary>
internal static class SampleLog
{
    public const int Forks = 40;

    /// <summary>Makes the log and leaves it as it is after kill -9.</summary>
    public static void Make(string directory)
    {
        using LogMaker log = LogMaker.Start(directory, new SecondClock(), LogMaker.Small with { SegmentBytes = 4 << 20 });
        log.Begin();
        log.Peer(1, "ada");
        log.Peer(2, "bob");
        log.Commit();
        log.Run(MessageKind.Fork, 1, Message.Of(Manifest.Everything, Manifest.EverythingArguments), Message.Of(Manifest.Raw, [0xFF, 0xFE]));
        log.Run(MessageKind.Call, 2, Message.OfCall(Manifest.Answer, 17, []));
        log.Commit();
        log.Run(MessageKind.Result, 2, Message.OfCall(Manifest.Answer, 5, Message.Arguments(static (ref CborWriter to) => to.WriteNull())));
        log.Run(MessageKind.Failure, 2,
            Message.OfCall(Manifest.Answer, 6,
                Message.Arguments(
                    static (ref CborWriter to) =>
                        new FailureInfo("Shop.Closed", "at\nnight", new FailureInfo("Inner", "why")).Write(ref to))));
        log.Run(MessageKind.Impulse, 0,
            Message.Of(Manifest.Two, static (ref CborWriter to) => { to.WriteInt64(1); to.WriteString("\u001b[2J"); }));
        log.Append(new TrimRecord([new TrimPosition(1, 9)]));
        log.Append(new CheckpointMarkRecord(new Epoch(1), 0, "r0"));
        log.Append(new DigestRecord(new Lsn(4_096), [new DigestEntry(new InstanceId("ada"), 3, 0xAB)]));
        log.Commit();
        for (int i = 0; i < Forks; i++)
        {
            log.Run(MessageKind.Fork, 2, Message.Of(99, (ref CborWriter to) => { to.WriteInt64(i); to.WriteBytes(new byte[600]); }));
            log.Commit();
        }
        log.Spanning(SpanningRun(), RecordKind.Run);
        log.Commit();
        log.Run(MessageKind.Fork, 1, Message.Of(Manifest.Raw, [1]));
        log.Commit();
    }

    /// <summary>From ada, larger than a page.</summary>
    private static byte[] SpanningRun()
    {
        byte[] message = Message.Of(Manifest.Raw, new byte[100_000]);
        byte[] run = new byte[RunHeader.Bytes + message.Length];
        new RunHeader(MessageKind.Fork, false, 0, 1, 3, 1, 0, 1).Write(run);
        message.CopyTo(run, RunHeader.Bytes);
        return run;
    }

    /// <summary>2026-11-21, a second later at each look.</summary>
    private sealed class SecondClock : TimeProvider
    {
        private DateTimeOffset _now = new(2026, 11, 21, 0, 0, 0, TimeSpan.Zero);

        public override DateTimeOffset GetUtcNow() => _now;

        public override long TimestampFrequency => TimeSpan.TicksPerSecond;

        public override long GetTimestamp() => (_now += TimeSpan.FromSeconds(1)).UtcTicks;
    }
}
