using Ambrosia.Protocol;
using Ambrosia.Protocol.Runs;

namespace Ambrosia.Coordinator.Replay;

/// <summary>Tells how far the inputs of one sender go: calls with the sender's hash there, and impulses of one of its epochs.</summary>
internal readonly record struct InputPosition(ulong Number, ulong Hash, Epoch ImpulseEpoch, ulong Impulses)
{
    /// <summary>Returns the position after a run; impulses of a new epoch count from 1 again.</summary>
    public InputPosition After(in RunHeader run) => run.Kind == MessageKind.Impulse
        ? this with { ImpulseEpoch = new Epoch(run.Hash), Impulses = run.Last }
        : this with { Number = run.Last, Hash = run.Hash };

    /// <summary>The number that the next message of this run's channel must have.</summary>
    public ulong Next(in RunHeader run) => run.Kind != MessageKind.Impulse ? Number + 1
        : run.Hash == ImpulseEpoch.Value ? Impulses + 1 : 1;
}
