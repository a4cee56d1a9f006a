using System.Text;
using System.Text.Json.Nodes;
using Ambrosia.Coordinator;
using Ambrosia.Coordinator.Admin;
using Ambrosia.Coordinator.Replica;
using Ambrosia.Log.Fencing;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Payloads;

namespace Ambrosia.Simulation;

/// <summary>
/// What operators ask of one process, by its commands or by SIGTERM, and how it obeys: what the host of a process does on threads of its
/// own is done here in steps.
/// </summary>
internal sealed class ReplicaOrders
{
    private readonly World _world;
    private readonly SimulatedReplica _replica;
    private readonly Coordinator.Coordinator _parts;
    private readonly AdminCommands _commands = new();
    private IAdminReply? _reply;
    private string _asked = "";
    private CleanEnd? _end;
    private TimeSpan _stopAsked;
    private bool _isToStop, _hasSaidGoodbye;

    public ReplicaOrders(World world, SimulatedReplica replica, Coordinator.Coordinator parts)
    {
        (_world, _replica, _parts) = (world, replica, parts);
        parts.AddCommands(_commands);
        var promoted = new PromotedReplica(() => parts.Sessions.Lag, () => parts.IsPrimary ? parts.Epoch : null, () => IsClaimAsked = true,
            () => parts.AppWatch.Overdue)
        {
            WaitsBecause = () => parts.Sessions.Admission.WaitsBecause, Obstacle = () => parts.Sessions.Admission.Obstacle,
        };
        _commands.Set("promote", request => PromoteCommand.Begin(request, parts.HasLog, promoted, replica.Time));
        _commands.Set("retire", request => RetireCommand.Begin(
            request, parts.HasLog, [.. ReplicaLock.ListRunning(replica.Files, replica.Directory).Where(name => name != replica.Name)],
            replica.Options.StopWithin, () => _isToStop = true));
    }

    /// <summary>The replica is to claim the epoch whoever is primary.</summary>
    public bool IsClaimAsked { get; set; }

    /// <summary>One request at a time; what comes meanwhile is not sent.</summary>
    public void Ask(string command)
    {
        if (_asked.Length == 0) _asked = command;
    }

    /// <summary>SIGTERM.</summary>
    public void Terminate()
    {
        _isToStop = true;
        _world.Saw("terminated");
    }

    /// <summary>Does what is asked for; false: there is nothing, and the replica goes on as usual.</summary>
    public bool Step(Random random)
    {
        if ((_asked.Length == 0 && !_isToStop) || random.Next(4) != 0) return false;
        if (_isToStop) StepEnd();
        else StepReply();
        return true;
    }

    private void StepReply()
    {
        _reply ??= _commands.Begin(Encoding.UTF8.GetBytes(new JsonObject { ["command"] = _asked }.ToJsonString()));
        JsonObject? answer = _reply.Next(out bool isLast);
        if (answer is not null) Answered(answer);
        if (!isLast) return;
        _reply = null;
        _asked = "";
    }

    private void Answered(JsonObject answer)
    {
        _world.Trace($"{_replica.Process}: {_asked}: {answer.ToJsonString()}");
        string sight = answer["error"] is null ? "" : " refused";
        _world.Saw(_asked switch
        {
            "promote" => $"promote{sight}", "retire" => $"retire{sight}", "checkpoint" when sight == "" => "checkpoint as asked", _ => null,
        });
    }

    /// <summary>The log is brought to a clean end, the app is told, and a little later the process is gone.</summary>
    private void StepEnd()
    {
        if (_end is null)
        {
            _end = _parts.BeginCleanEnd();
            _stopAsked = _replica.Now;
        }
        if (_hasSaidGoodbye)
        {
            _replica.RestUntil(_world.Time.Elapsed + _world.Operators.RestartsAfter());
            throw new ProcessEnd(_replica, ExitCodes.Ok, "stopped as asked");
        }
        switch (_end.Next(_replica.Now - _stopAsked))
        {
            case CleanEndStep.Commit: ((IPumps)_replica).Commit(drained: true); break;
            case CleanEndStep.Over:
                _parts.Sessions.Live?.Send(new Goodbye(GoodbyeCode.CleanStop, "the coordinator stops"));
                _hasSaidGoodbye = true;
                _world.Saw(_parts.HasLog ? "clean end of a primary" : "clean end of a secondary");
                break;
        }
    }
}
