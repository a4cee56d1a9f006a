using Ambrosia.Log;
using Ambrosia.Protocol;

namespace Ambrosia.Coordinator;

/// <summary>A whole checkpoint: its coordinator part in memory, outboxes and image to be streamed from the open file.</summary>
internal sealed record FoundCheckpoint(CheckpointReader Reader, CoordinatorPart Part) : IDisposable
{
    public CheckpointHeader Header => Reader.Header;

    public void Dispose() => Reader.Dispose();
}
