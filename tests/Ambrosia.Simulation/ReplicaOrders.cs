using System.Text;
using System.Text.Json.Nodes;
using Ambrosia.Coordinator;
using Ambrosia.Coordinator.Admin;
using Ambrosia.Coordinator.Replica;
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

    /// <summary>The command that is obeyed now came at this time of the world.</summary>
    private TimeSpan _commandBegan;

    /// <summary>The clean end began at this time of the world.</summary>
    private TimeSpan _endBegan;
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
        parts.AddRetire(_commands, () => _isToStop = true);
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

    /// <summary>What an operator does with messages that were set aside: one is tried again, or dropped.</summary>
    public void Decide()
    {
        if (!Decisions("list", "").Any(answer => answer["message"] is not null)) return;
        string[] places = [.. Decisions("list", "").Select(static answer => (string?)answer["message"]).OfType<string>()];
        string action = _world.Shape.Next(3) == 0 ? "drop" : "retry", place = places[_world.Shape.Next(places.Length)];
        _world.Trace($"{_replica.Process}: {action} {place}");
        foreach (JsonObject _ in Decisions(action, place)) { }
    }

    /// <summary>The answers that come at once.</summary>
    private IEnumerable<JsonObject> Decisions(string action, string place)
    {
        IAdminReply reply = _commands.Begin(
            Encoding.UTF8.GetBytes(new JsonObject { ["command"] = "quarantine", ["action"] = action, ["message"] = place }.ToJsonString()));
        for (bool isLast = false; !isLast && reply.Next(out isLast) is { } answer;) yield return answer;
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
        if (_reply is null) _commandBegan = _world.Time.Elapsed;
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
        if (answer["successors"] is JsonArray named)
            foreach (JsonNode? successor in named) if (_parts.HasLog) AssertFollows((string)successor!, _commandBegan);
        _world.Saw(_asked switch
        {
            "promote" => $"promote{sight}", "retire" => $"retire{sight}", "checkpoint" when sight == "" => "checkpoint as asked", _ => null,
        });
    }

    /// <summary>Its process leaves the log to this replica, which takes no checkpoint.</summary>
    public void HandedOver(string successor)
    {
        _world.Saw("handed over");
        AssertFollows(successor, _endBegan);
    }

    /// <exception cref="SimulationFailure">It has not moved, so that nobody can know whether it goes on.</exception>
    private void AssertFollows(string successor, TimeSpan since)
    {
        SimulatedReplica named = _world.Replicas.First(each => each.Id == _replica.Id && each.Name == successor);
        if (named.MovedAt < since)
            throw new SimulationFailure(
                $"{_replica.Process} leaves the log to {successor}, asked at {since}, which has not moved since {named.MovedAt} (P9.8)");
    }

    /// <summary>The log is brought to a clean end, the app is told, and a little later the process is gone.</summary>
    private void StepEnd()
    {
        if (_end is null)
        {
            _end = _parts.BeginCleanEnd();
            (_stopAsked, _endBegan) = (_replica.Now, _world.Time.Elapsed);
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
