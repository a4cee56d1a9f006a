using Ambrosia.Calls;
using Ambrosia.Impulses;
using Ambrosia.Outbound;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Payloads;
using Ambrosia.Protocol.Runs;

namespace Ambrosia.Proxies;

/// <summary>
/// Sends for the proxies of one immortal: numbered messages of its handlers into the output, impulses of other threads through the ingress.
/// It owns the calls that have no result yet. Thread: the scheduler's, except <see cref="Impulses"/> (any).
/// </summary>
/// <param name="declared">The destinations that the session has declared already; null: it has declared none.</param>
internal sealed class MessageSender(
    Scheduler scheduler, OutboundBuffer outbound, ImpulseIngress impulses, DestinationTable? declared = null)
{
    internal Scheduler Scheduler => scheduler;

    internal OutboundBuffer Outbound => outbound;

    internal ImpulseIngress Impulses => impulses;

    internal DestinationTable Destinations { get; } = declared ?? new DestinationTable(outbound);

    internal OutstandingCalls Calls { get; } = new();

    /// <summary>Takes what is sent where there is no session, in a unit test; null: there is one.</summary>
    internal ICallRecorder? Recorder { get; init; }

    internal OutgoingMessage BeginFork(Destination destination, uint method, int argumentBytesHint)
    {
        outbound.Begin(destination, MessageKind.Fork, argumentBytesHint == 0 ? 0 : argumentBytesHint + Varint.SizeOf(method));
        outbound.WriteVarint(method);
        return new OutgoingMessage(outbound, 0, method);
    }

    internal OutgoingMessage BeginCall(Destination destination, uint method, int argumentBytesHint)
    {
        ulong call = Calls.Next;
        int headBytes = Varint.SizeOf(method) + Varint.SizeOf(call);
        outbound.Begin(destination, MessageKind.Call, argumentBytesHint == 0 ? 0 : argumentBytesHint + headBytes);
        outbound.WriteVarint(method);
        outbound.WriteVarint(call);
        return new OutgoingMessage(outbound, call, method);
    }

    internal PendingCall<T> SendCall<T>(ImmortalProxy proxy, OutgoingMessage message)
    {
        if (message.Aside is not null) return Record<T>(proxy, message);
        outbound.Commit();
        return Calls.Add<T>(proxy, message.CallId, message.Method);
    }

    private PendingCall<T> Record<T>(ImmortalProxy proxy, OutgoingMessage message)
    {
        PendingCall<T> pending = Calls.Add<T>(proxy, Calls.Next, message.Method);
        Recorder!.Record(proxy, MessageKind.Call, message.Method, message.Aside!.Written, pending);
        return pending;
    }

    /// <summary>Gives what a proxy of an instance speaks by; the instance is declared as a destination at the first time.</summary>
    /// <exception cref="ArgumentException">It is not an instance name.</exception>
    internal ProxyTarget TargetOf(InstanceId id) => new(this, Destinations.Get(id));
}

/// <summary>Takes what handlers send in a unit test, where there is no session. Thread: whichever the test runs on.</summary>
internal interface ICallRecorder
{
    /// <summary>Says that something is about to be encoded.</summary>
    /// <param name="key">The key of an impulse, empty if it has none.</param>
    void Begin(ReadOnlySpan<byte> key);

    /// <param name="pending">The call whose result is awaited; null: nobody awaits one.</param>
    void Record(ImmortalProxy proxy, MessageKind kind, uint method, ReadOnlySpan<byte> arguments, IPendingCall? pending);
}

/// <summary>
/// Holds the calls that were made and whose results have not been executed yet, by the counter of their call id. Thread: the scheduler's.
/// Invariant: every id is below Next, and each call is completed at most once, by the instance that was called (I16).
/// </summary>
internal sealed class OutstandingCalls
{
    private readonly SortedDictionary<ulong, IPendingCall> _byId = [];

    /// <summary>The counter of the next call id, from 1.</summary>
    internal ulong Next { get; private set; } = 1;

    internal int Count => _byId.Count;

    /// <summary>The calls in order of their ids.</summary>
    internal IReadOnlyCollection<IPendingCall> All => _byId.Values;

    /// <summary>The number of results that nobody waited for: their ids are unknown, or their sender was not called.</summary>
    internal long Dropped { get; private set; }

    internal PendingCall<T> Add<T>(ImmortalProxy proxy, ulong id, uint method)
    {
        if (id != Next) throw new InvalidOperationException($"Call {id} is sent where {Next} is next.");
        var pending = new PendingCall<T>(id, method, proxy);
        _byId.Add(id, pending);
        Next++;
        return pending;
    }

    internal bool TryTake(ulong id, InstanceId from, out IPendingCall pending)
    {
        if (_byId.TryGetValue(id, out pending!) && pending.Proxy.Destination.Id == from)
        {
            _byId.Remove(id);
            return true;
        }
        Dropped++;
        return false;
    }

    /// <summary>Takes all calls to an instance out, in order of their ids.</summary>
    internal List<IPendingCall> TakeAll(InstanceId to)
    {
        List<IPendingCall> taken = [.. _byId.Values.Where(call => call.Proxy.Destination.Id == to)];
        foreach (IPendingCall call in taken) _byId.Remove(call.Id);
        return taken;
    }

    /// <exception cref="InvalidDataException">The calls are not those of any session.</exception>
    internal void Restore(ulong next, IEnumerable<IPendingCall> pending)
    {
        Next = next;
        foreach (IPendingCall call in pending)
        {
            if (call.Id == 0 || call.Id >= next) throw new InvalidDataException($"The image holds call {call.Id} where {next} is next.");
            _byId.Add(call.Id, call);
        }
    }
}
