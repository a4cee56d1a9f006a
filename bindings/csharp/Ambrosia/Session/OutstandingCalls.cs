// Calls that were made and whose results have not been executed yet, by the counter of their call id. Thread: the scheduler's.
// Invariant: every id is below Next, and each is completed at most once, by the instance that was called (I16).
using Ambrosia.Protocol;

namespace Ambrosia;

internal sealed class OutstandingCalls
{
    private readonly SortedDictionary<ulong, IPendingCall> byId = [];

    /// <summary>The counter of the next call id, from 1.</summary>
    internal ulong Next { get; private set; } = 1;

    internal int Count => byId.Count;

    /// <summary>In order of their ids.</summary>
    internal IReadOnlyCollection<IPendingCall> All => byId.Values;

    /// <summary>Results that nobody waited for: unknown ids, or a sender that was not called.</summary>
    internal long Dropped { get; private set; }

    internal PendingCall<T> Add<T>(ImmortalProxy proxy, ulong id, uint method)
    {
        if (id != Next) throw new InvalidOperationException($"Call {id} is sent where {Next} is next.");
        var pending = new PendingCall<T>(id, method, proxy);
        byId.Add(id, pending);
        Next++;
        return pending;
    }

    internal bool TryTake(ulong id, InstanceId from, out IPendingCall pending)
    {
        if (byId.TryGetValue(id, out pending!) && pending.Proxy.Destination.Id == from)
        {
            byId.Remove(id);
            return true;
        }
        Dropped++;
        return false;
    }

    /// <summary>Takes all calls to an instance out, in order of their ids.</summary>
    internal List<IPendingCall> TakeAll(InstanceId to)
    {
        List<IPendingCall> taken = [.. byId.Values.Where(call => call.Proxy.Destination.Id == to)];
        foreach (IPendingCall call in taken) byId.Remove(call.Id);
        return taken;
    }

    /// <exception cref="InvalidDataException">The calls are not those of any session.</exception>
    internal void Restore(ulong next, IEnumerable<IPendingCall> pending)
    {
        Next = next;
        foreach (IPendingCall call in pending)
        {
            if (call.Id == 0 || call.Id >= next) throw new InvalidDataException($"The image holds call {call.Id} where {next} is next.");
            byId.Add(call.Id, call);
        }
    }
}
