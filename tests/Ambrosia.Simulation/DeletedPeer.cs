using System.Text;
using System.Text.Json.Nodes;
using Ambrosia.Coordinator.Admin;
using Ambrosia.Log.Instances;

namespace Ambrosia.Simulation;

/// <summary>
/// What happens to a world whose ledger is lost for good, with its directory, and is made again under its name: the source's operator gives
/// the old one up (forget-peer), as often as it takes until it is in the log, and the source begins with the new one from number 1.
/// </summary>
internal sealed class DeletedPeer(World world)
{
    private readonly AdminCommands _commands = new();
    private (string Process, IAdminReply Reply)? _asked;

    /// <summary>The old ledger is gone.</summary>
    public bool IsDeleted { get; private set; }

    /// <summary>An app of the source has been told, so that it is in the log for good.</summary>
    public bool IsForgotten => IsDeleted && world.Source.App?.Immortal is Source { Forgets: > 0 };

    /// <summary>Refused with the reason, while the operator had not said so.</summary>
    public int Refusals { get; set; }

    public void Step()
    {
        if (!IsDeleted) TryDelete();
        else if (!IsForgotten && world.Shape.Next(200) == 0) Forget();
    }

    /// <summary>While calls are under way that nobody will answer any more.</summary>
    private void TryDelete()
    {
        if (world.Source.App is not { IsPrimary: true, Immortal: Source { Answers: > 5 and < Source.Asks / 2 } }
            || world.Shape.Next(300) != 0) return;
        Guid uuid = Guid.Empty;
        world.Undisturbed(() => uuid = InstanceDirectory.TryRead(world.Disk, world.Ledger.Directory)?.Uuid ?? Guid.Empty);
        if (uuid == Guid.Empty) return;
        foreach (SimulatedReplica replica in world.Ledger.Replicas) replica.KillCoordinator();
        world.Undisturbed(() =>
        {
            foreach (string path in world.Disk.Files().ToArray())
                if (path.StartsWith(world.Ledger.Directory + "/", StringComparison.Ordinal)) world.Disk.Delete(path);
            world.Disk.FlushDirectory(world.Ledger.Directory);
        });
        world.Oracles.Bury(world.Ledger.Id, uuid);
        world.Trace($"the log of {world.Ledger.Id} is deleted");
        IsDeleted = true;
    }

    private void Forget()
    {
        if (world.Source.Reachable is not [{ Coordinator: { } parts, App: { IsPrimary: true, Immortal: Source { Forgets: 0 } } } primary])
            return;
        if (_asked is not { } running || running.Process != primary.Process)
        {
            parts.AddCommands(_commands);
            running = (primary.Process,
                _commands.Begin(
                    Encoding.UTF8.GetBytes(
                        new JsonObject { ["command"] = "forget-peer", ["peer"] = world.Ledger.Id.Name }.ToJsonString())));
            _asked = running;
        }
        if (running.Reply.Next(out bool isLast) is not { } answer) return;
        world.Trace($"{primary.Process}: forget-peer: {answer.ToJsonString()}");
        if (isLast) _asked = null; // refused: tried again
    }
}
