using Ambrosia.Client;
using Ambrosia.Coordinator;
using Ambrosia.Protocol;
using Ambrosia.TestKit;
using CRA;

namespace Ambrosia.Simulation;

/// <summary>
/// A process outside that calls the ledger: the real client's requests and conversation on one side, the real session on the other, bytes
/// between them, and connections that break. What it was told is held against what took effect. Chance of its own, so that worlds without
/// a caller stay what they were.
/// </summary>
internal sealed class SimulatedCaller
{
    private const int CallsWanted = 120, WireBytesMax = 64 * 1024;

    private readonly World world;
    private readonly SimulatedInstance instance;
    private readonly SimulatedRandom random;
    private readonly RequestBook book = new(static _ => { });
    private readonly List<CallOutside> calls = [];
    private readonly List<byte> atServer = [], atCaller = [];
    private Wire toServer = new(), toCaller = new();
    private ClientConversation? conversation;
    private ClientSession? session;
    private SimulatedReplica? server;
    private string? why;

    public SimulatedCaller(World world, SimulatedInstance instance, ulong seed)
    {
        this.world = world;
        this.instance = instance;
        random = new SimulatedRandom(seed ^ 0xCA11);
    }

    /// <summary>One call, or one more try with the key of an earlier one.</summary>
    /// <param name="Key">Null: none.</param>
    private sealed record CallOutside(ulong Id, string? Key, ClientRequest Request);

    /// <summary>Requests that were repeated by the client itself or by us, and answers that were had.</summary>
    public int Retries { get; private set; }

    public int Answers { get; private set; }

    /// <summary>It has called enough and knows what there is to know.</summary>
    public bool IsDone => calls.Count == CallsWanted && book.Count == 0;

    /// <summary>It is its turn: decided by its own chance.</summary>
    public bool TakesTurn() => random.Next(3) == 0;

    public void Step()
    {
        if (calls.Count < CallsWanted && random.Next(12) == 0) Call();
        if (why is not null) Finish();
        else if (conversation is null) Connect();
        else if (!world.IsCalm && random.Next(400) == 0) why = "cut";
        else if (random.Next(2) == 0) Exchange();
        else Answer();
    }

    private void Call()
    {
        CallOutside? earlier = random.Next(4) == 0 ? calls.Find(call => call.Key is not null && random.Next(3) == 0) : null;
        ulong id = earlier?.Id ?? (ulong)calls.Count + 1;
        uint method = earlier is null ? (uint)(101 + random.Next(3)) : MethodOf(earlier);
        string? key = earlier is null ? random.Next(2) == 0 ? $"k{id}" : null : world.Faults.NewKeys
            ? $"{earlier.Key}again{calls.Count}" : earlier.Key;
        if (earlier is not null) Retries++;
        var message = new ClientMessage(method, System.Text.Encoding.UTF8.GetBytes(key ?? ""));
        var arguments = new CborWriter(message.Reserve(9));
        arguments.WriteUInt64(id);
        message.Advance(arguments.Written);
        ClientRequest request = message.ToRequest(isImpulse: method == 103 && random.Next(2) == 0);
        calls.Add(new CallOutside(id, key, request));
        book.TryAdd(request);
    }

    private static uint MethodOf(CallOutside call)
    {
        var reader = new MessageReader(call.Request.Message, MessageKind.ClientRequest, keyed: true);
        reader.Next();
        return reader.Method;
    }

    private void Connect()
    {
        if (instance.Reachable is not { Length: > 0 } there) return;
        server = random.Pick(there);
        uint seed = (uint)random.Next();
        (toServer, toCaller) = (new Wire(), new Wire());
        conversation = new ClientConversation(book, new QueryDesk(QuerySource.Primary, static _ => { }),
            new ClientHello(1, 1, instance.Id, Guid.Empty, "caller", Frames.MessageBytesMaxDefault), seed);
        session = server.Coordinator!.NewCaller(seed, "caller");
        session.Close = reason => why ??= reason;
    }

    /// <summary>The coordinator is gone, and its end of the connection with it.</summary>
    public void Lost(SimulatedReplica dead)
    {
        if (dead != server) return;
        session = null;
        why ??= "the process died";
    }

    /// <summary>Each end learns by itself that it is over.</summary>
    private void Finish()
    {
        if (session is not null && (conversation is null || random.Next(2) == 0))
        {
            if (server!.IsPaused) return;
            world.Running = server;
            session.Ended(why!);
            session = null;
        }
        else if (conversation is not null)
        {
            conversation.Ended(why!);
            conversation = null;
        }
        if (session is not null || conversation is not null) return;
        atServer.Clear();
        atCaller.Clear();
        server = null;
        why = null;
    }

    /// <summary>The caller's process.</summary>
    private void Exchange()
    {
        if (random.Next(2) == 0)
        {
            if (toServer.Count > WireBytesMax || !conversation!.TryTake(out ReadOnlyMemory<byte> bytes)) return;
            toServer.Send(bytes.Span);
            conversation.Taken(bytes.Length);
            return;
        }
        if (toCaller.Count > 0) atCaller.AddRange(toCaller.Take(random.Next(1, toCaller.Count + 1)));
        if (conversation!.Feed(atCaller.ToArray(), drained: true, out int consumed) == FeedAnswer.Close) why ??= "told goodbye";
        atCaller.RemoveRange(0, consumed);
    }

    /// <summary>The coordinator's end; a crash in it is the coordinator's.</summary>
    private void Answer()
    {
        if (server!.IsPaused) return;
        world.Running = server;
        if (random.Next(2) == 0)
        {
            if (toCaller.Count > WireBytesMax || !session!.TryTake(out ReadOnlyMemory<byte> bytes)) return;
            toCaller.Send(bytes.Span);
            session.Taken(bytes.Length);
            return;
        }
        if (toServer.Count > 0) atServer.AddRange(toServer.Take(random.Next(1, toServer.Count + 1)));
        if (atServer.Count == 0) return;
        if (session!.Feed(atServer.ToArray(), drained: toServer.Count == 0, out int consumed) == FeedAnswer.Close) why ??= "refused";
        atServer.RemoveRange(0, consumed);
    }

    /// <summary>Guarantees 2 and 4: nothing twice, nothing acknowledged or keyed lost, and one answer for a key.</summary>
    public void Judge(Ledger ledger)
    {
        foreach (IGrouping<ulong, CallOutside> tries in calls.GroupBy(static call => call.Id))
        {
            int effects = ledger.Effects.GetValueOrDefault(tries.Key);
            bool isKnown = tries.Any(static call => call.Key is not null || call.Request.Completion.Task.IsCompletedSuccessfully);
            if (effects > 1 || (isKnown && effects == 0))
                throw new SimulationFailure($"what {string.Join(" and ", tries.Select(Told))} took effect {effects} times (I9)");
        }
        if (calls.Find(static call => call.Key is not null && !call.Request.Completion.Task.IsCompletedSuccessfully) is { } lost)
            throw new SimulationFailure($"a key did not help: {Told(lost)} (I16)");
        var answers = new Dictionary<ulong, ulong>();
        foreach (CallOutside call in calls.Where(
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
