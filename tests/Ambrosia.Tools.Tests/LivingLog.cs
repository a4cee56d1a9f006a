using Ambrosia.Log.Files;
using Ambrosia.Log.Format;
using Ambrosia.Log.Instances;
using Ambrosia.Log.Retention;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Checkpoints;
using Ambrosia.Protocol.Runs;

namespace Ambrosia.Tools.Tests;

/// <summary>A primary that works on real files: it appends, takes checkpoints, truncates, and writes its old segments again.</summary>
internal sealed class LivingLog : IDisposable
{
    private static readonly LogOptions s_small = LogMaker.Small with { SegmentBytes = 64 << 10, PageBytes = 8 << 10 };

    private readonly LogMaker _maker;
    private readonly Truncation _truncation;

    public LivingLog(string directory)
    {
        _maker = LogMaker.Start(directory, options: s_small);
        _truncation = new Truncation(
            new LogLocation(new PosixFileSystem(), directory, _maker.Identity), _maker.Writer, _maker.Log.Chain, RetentionPolicy.Default);
        _maker.Begin();
        _maker.Peer(1, "ada");
        Work();
        Work();
    }

    /// <summary>The number of files that were written again so far.</summary>
    public long Recycled => _maker.Writer.Metrics.Recycled;

    /// <summary>
    /// Segments fill, two checkpoints are taken, what lies below the older one goes, and more is written into what is free then.
    /// </summary>
    public void Work()
    {
        for (int i = 0; i < 2; i++)
        {
            Fill();
            Checkpoint();
        }
        _truncation.Truncate(DateTimeOffset.UtcNow);
        Fill();
    }

    public void Dispose() => _maker.Dispose();

    private void Fill()
    {
        for (int i = 0; i < 9; i++)
        {
            _maker.Run(MessageKind.Fork, 1, Message.Of(5, (ref CborWriter to) => to.WriteBytes(new byte[6_000])));
            _maker.Commit();
        }
    }

    private void Checkpoint() => _maker.Checkpoint(new CheckpointPeer(1, new InstanceId("ada"), Guid.NewGuid(), new Epoch(1), 0));
}
