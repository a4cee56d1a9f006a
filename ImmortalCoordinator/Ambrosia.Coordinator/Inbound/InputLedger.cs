using Ambrosia.Log;
using Ambrosia.Protocol;

namespace Ambrosia.Coordinator;

/// <summary>
/// Who has sent what, at the end of the log: what to drop as a duplicate, what to acknowledge. Origin 0 is the instance itself.
/// Owns the origins; their positions only grow. Any thread; one lock, taken once a run.
/// </summary>
internal sealed class InputLedger(InstanceId self)
{
    private readonly Lock gate = new();
    private readonly List<Origin> origins = [new Origin(0, self)];
    private readonly Dictionary<InstanceId, Origin> byName = [];
    private readonly List<Origin> touched = [];

    public Origin Self => origins[0];

    /// <summary>Starts from what the log holds to its end.</summary>
    public void Restore(DeliveredState state)
    {
        lock (gate)
        {
            Self.Restore(state.InputsOf(0));
            foreach (PeerRecord peer in state.Peers)
            {
                Origin origin = Add(peer.Peer, peer.Uuid, peer.Epoch);
                if (origin.Id != peer.Origin) throw new InvalidOperationException($"peer {peer.Peer} is origin {peer.Origin}, not {origin.Id}");
                origin.Restore(state.InputsOf(peer.Origin));
            }
        }
    }

    private Origin Add(InstanceId instance, Guid uuid, Epoch epoch)
    {
        var origin = new Origin((uint)origins.Count, instance) { Uuid = uuid, Epoch = epoch };
        origins.Add(origin);
        byName.Add(instance, origin);
        return origin;
    }

    public Origin? Find(InstanceId instance)
    {
        lock (gate) return byName.GetValueOrDefault(instance);
    }

    public List<Origin> Peers()
    {
        lock (gate) return origins.GetRange(1, origins.Count - 1);
    }

    public InputPosition DurableOf(Origin origin)
    {
        lock (gate) return origin.Durable;
    }

    /// <summary>
    /// The peer of a hello that was found right. When it or its epoch is new, <paramref name="record"/> must become durable before it is
    /// answered (model rule M4); lower epochs are refused from now on.
    /// </summary>
    public Origin Admit(InstanceId instance, Guid uuid, Epoch epoch, out PeerRecord? record)
    {
        lock (gate)
        {
            Origin? origin = byName.GetValueOrDefault(instance);
            bool isKnown = origin is not null && origin.Epoch == epoch;
            origin ??= Add(instance, uuid, epoch);
            if (epoch < origin.Epoch) throw new InvalidOperationException($"epoch {epoch} of {instance} was refused before");
            origin.Epoch = epoch;
            record = isKnown ? null : new PeerRecord(origin.Id, instance, uuid, epoch);
            return origin;
        }
    }

    /// <summary>What is logged of a sender; only its one connection appends, so it holds until that connection's next append.</summary>
    public InputPosition AppendedOf(Origin origin)
    {
        lock (gate) return origin.Appended;
    }

    /// <summary>A run of this origin has its place in the log; called before it can become durable.</summary>
    public void Appended(Origin origin, in RunHeader run, Lsn end)
    {
        lock (gate)
        {
            origin.Append(end, origin.Appended.After(run));
            if (origin.IsTouched) return;
            origin.IsTouched = true;
            touched.Add(origin);
        }
    }

    /// <summary>The log is durable up to here: every connection whose peer waits for it is added to <paramref name="owed"/>.</summary>
    public void AdvanceDurable(Lsn durable, List<PeerLink> owed, out bool selfMoved)
    {
        selfMoved = false;
        lock (gate)
        {
            for (int i = touched.Count - 1; i >= 0; i--)
            {
                Origin origin = touched[i];
                InputPosition before = origin.Durable;
                bool more = origin.Advance(durable);
                if (origin.Durable != before && origin.Link is { } link) owed.Add(link);
                selfMoved |= origin == Self && origin.Durable != before;
                if (more) continue;
                origin.IsTouched = false;
                touched[i] = touched[^1];
                touched.RemoveAt(touched.Count - 1);
            }
        }
    }

    public void Connect(Origin origin, PeerLink link)
    {
        lock (gate) origin.Link = link;
    }

    public void Disconnect(Origin origin, PeerLink link)
    {
        lock (gate)
        {
            if (origin.Link == link) origin.Link = null;
        }
    }
}
