using Ambrosia.Client;
using Ambrosia.Client.Connections;
using Ambrosia.Client.Queries;
using Ambrosia.Client.Requests;
using Ambrosia.Coordinator.Clients;
using Ambrosia.Coordinator.Framing;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Runs;
using Ambrosia.TestKit;
using CRA.Links;

namespace Ambrosia.Simulation;

/// <summary>
/// A process outside that calls the ledger: the real client's requests and connection on one side, the real session on the other, bytes
/// between them, and connections that break. What it was told is held against what took effect. Chance of its own, so that worlds without
/// a caller stay what they were.
/// </summary>
internal sealed class SimulatedCaller
{
    private const int CallsWanted = 120, WireBytesMax = 64 * 1024;

    private readonly World _world;
    private readonly SimulatedInstance _instance;
    private readonly SimulatedRandom _random;
    private readonly InFlightRequests _requests = new(static _ => { });
    private readonly List<CallOutside> _calls = [];
    private readonly List<byte> _atServer = [], _atCaller = [];
    private Wire _toServer = new(), _toCaller = new();
    private ClientConnection? _connection;
    private ClientSession? _session;
    private SimulatedReplica? _server;
    private string? _why;

    public SimulatedCaller(World world, SimulatedInstance instance, ulong seed)
    {
        _world = world;
        _instance = instance;
        _random = new SimulatedRandom(seed ^ 0xCA11);
    }

    /// <summary>One call, or one more try with the key of an earlier one.</summary>
    /// <param name="Key">Null: none.</param>
    private sealed record CallOutside(ulong Id, string? Key, ClientRequest Request);

    /// <summary>Requests that were repeated by the client itself or by us, and answers that were had.</summary>
    public int Retries { get; private set; }

    public int Answers { get; private set; }

    /// <summary>It has called enough and knows what there is to know.</summary>
    public bool IsDone => _calls.Count == CallsWanted && _requests.Count == 0;

    /// <summary>It is its turn: decided by its own chance.</summary>
    public bool TakesTurn() => _random.Next(3) == 0;

    public void Step()
    {
        if (_calls.Count < CallsWanted && _random.Next(12) == 0) Call();
        if (_why is not null) Finish();
        else if (_connection is null) Connect();
        else if (!_world.IsCalm && _random.Next(400) == 0 && _world.Strikes.Strike("cut the caller")) _why = "cut";
        else if (_random.Next(2) == 0) Exchange();
        else Answer();
    }

    private void Call()
    {
        CallOutside? earlier = _random.Next(4) == 0 ? _calls.Find(call => call.Key is not null && _random.Next(3) == 0) : null;
        ulong id = earlier?.Id ?? (ulong)_calls.Count + 1;
        uint method = earlier is null ? (uint)(101 + _random.Next(3)) : MethodOf(earlier);
        string? key = earlier is null ? _random.Next(2) == 0 ? $"k{id}" : null : _world.Faults.NewKeys
            ? $"{earlier.Key}again{_calls.Count}" : earlier.Key;
        if (earlier is not null) Retries++;
        var message = new ClientMessage(method, System.Text.Encoding.UTF8.GetBytes(key ?? ""));
        var arguments = new CborWriter(message.Reserve(9));
        arguments.WriteUInt64(id);
        message.Advance(arguments.Written);
        ClientRequest request = message.ToRequest(isImpulse: method == 103 && _random.Next(2) == 0);
        _calls.Add(new CallOutside(id, key, request));
        _requests.TryAdd(request);
    }

    private static uint MethodOf(CallOutside call)
    {
        var reader = new MessageReader(call.Request.Message, MessageKind.ClientRequest, keyed: true);
        reader.Next();
        return reader.Method;
    }

    private void Connect()
    {
        if (_instance.Reachable is not { Length: > 0 } there) return;
        _server = _random.Pick(there);
        uint seed = (uint)_random.Next();
        (_toServer, _toCaller) = (new Wire(), new Wire());
        _connection = new ClientConnection(_requests, new QueryRouter(QuerySource.Primary, static _ => { }, static () => { }),
            new ClientHello(1, 1, _instance.Id, Guid.Empty, "caller", SizeLimits.MessageBytesMaxDefault), seed);
        _session = _server.Coordinator!.Clients.New(new LinkTransport(seed, "caller") { Close = reason => _why ??= reason });
    }

    /// <summary>The coordinator is gone, and its end of the connection with it.</summary>
    public void Lost(SimulatedReplica dead)
    {
        if (dead != _server) return;
        _session = null;
        _why ??= "the process died";
    }

    /// <summary>Each end learns by itself that it is over.</summary>
    private void Finish()
    {
        if (_session is not null && (_connection is null || _random.Next(2) == 0))
        {
            if (_server!.IsPaused) return;
            _world.Running = _server;
            _session.Ended(_why!);
            _session = null;
        }
        else if (_connection is not null)
        {
            _connection.Ended(_why!);
            _connection = null;
        }
        if (_session is not null || _connection is not null) return;
        _atServer.Clear();
        _atCaller.Clear();
        _server = null;
        _why = null;
    }

    /// <summary>The caller's process.</summary>
    private void Exchange()
    {
        if (_random.Next(2) == 0)
        {
            if (_toServer.Count > WireBytesMax || !_connection!.TryTake(out ReadOnlyMemory<byte> bytes)) return;
            _toServer.Send(bytes.Span);
            _connection.Taken(bytes.Length);
            return;
        }
        if (_toCaller.Count > 0) _atCaller.AddRange(_toCaller.Take(_random.Next(1, _toCaller.Count + 1)));
        if (_connection!.Feed(_atCaller.ToArray(), drained: true, out int consumed) == FeedResult.Close) _why ??= "told goodbye";
        _atCaller.RemoveRange(0, consumed);
    }

    /// <summary>The coordinator's end; a crash in it is the coordinator's.</summary>
    private void Answer()
    {
        if (_server!.IsPaused) return;
        _world.Running = _server;
        if (_random.Next(2) == 0)
        {
            if (_toCaller.Count > WireBytesMax || !_session!.TryTake(out ReadOnlyMemory<byte> bytes)) return;
            _toCaller.Send(bytes.Span);
            _session.Taken(bytes.Length);
            return;
        }
        if (_toServer.Count > 0) _atServer.AddRange(_toServer.Take(_random.Next(1, _toServer.Count + 1)));
        if (_atServer.Count == 0) return;
        if (_session!.Feed(_atServer.ToArray(), drained: _toServer.Count == 0, out int consumed) == FeedResult.Close) _why ??= "refused";
        _atServer.RemoveRange(0, consumed);
    }

    /// <summary>Guarantees 2 and 4: nothing twice, nothing acknowledged or keyed lost, and one answer for a key.</summary>
    public void Judge(Ledger ledger)
    {
        foreach (IGrouping<ulong, CallOutside> tries in _calls.GroupBy(static call => call.Id))
        {
            int effects = ledger.Effects.GetValueOrDefault(tries.Key);
            bool isKnown = tries.Any(static call => call.Key is not null || call.Request.Completion.Task.IsCompletedSuccessfully);
            if (effects > 1 || (isKnown && effects == 0))
                throw new SimulationFailure($"what {string.Join(" and ", tries.Select(Told))} took effect {effects} times (I9)");
        }
        if (_calls.Find(static call => call.Key is not null && !call.Request.Completion.Task.IsCompletedSuccessfully) is { } lost)
            throw new SimulationFailure($"a key did not help: {Told(lost)} (I16)");
        var answers = new Dictionary<ulong, ulong>();
        foreach (CallOutside call in _calls.Where(
            static call => call.Request.Completion.Task is { IsCompletedSuccessfully: true, Result.Length: > 0 }))
        {
            Answers++;
            ulong place = new CborReader(call.Request.Completion.Task.Result).ReadUInt64();
            if (answers.TryGetValue(place, out ulong other) && other != call.Id)
                throw new SimulationFailure($"one answer, {place}, for {other} and {call.Id} (I16)");
            if (answers.FirstOrDefault(each => each.Value == call.Id) is { Value: > 0 } first && first.Key != place)
                throw new SimulationFailure($"two answers, {first.Key} and {place}, for the key {call.Key} (I16)");
            answers[place] = call.Id;
        }
    }

    private static string Told(CallOutside call) =>
        $"{(call.Request.IsImpulse ? "impulse" : "request")} {call.Id}{(call.Key is null ? "" : $" with key {call.Key}")}, told {(call.Request.Completion.Task.IsCompletedSuccessfully ? "of its end" : "nothing")},";
}
