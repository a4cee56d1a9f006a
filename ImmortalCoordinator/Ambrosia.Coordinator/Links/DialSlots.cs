using Ambrosia.Protocol;

namespace Ambrosia.Coordinator.Links;

/// <summary>
/// Bounds how many calls to peers are under way at once. A call to a dead machine holds its slot until it times out; so peers whose last
/// call took long share a part of the slots, and the rest is for those that answer, be it with a refusal. It owns who is slow and what is
/// under way. Invariant: slow calls ≤ <see cref="SlowMax"/>, all calls ≤ <see cref="Max"/>. Guarded by its owner's lock; pure.
/// </summary>
internal sealed class DialSlots
{
    public const int Max = 64, SlowMax = 48;

    /// <summary>A call that takes this long is to a peer that is away, or as good as.</summary>
    public static readonly TimeSpan SlowAfter = TimeSpan.FromSeconds(1);

    /// <summary>Calls under way, each with what the peer was when it began.</summary>
    private readonly Dictionary<InstanceId, bool> _underWay = [];
    private readonly HashSet<InstanceId> _slow = [];
    private int _slowUnderWay;

    public int Free => Max - _underWay.Count;

    /// <summary>A slot for a call to this peer, until <see cref="Give"/>.</summary>
    public bool TryTake(InstanceId peer)
    {
        bool isSlow = _slow.Contains(peer);
        if (_underWay.Count >= Max || (isSlow && _slowUnderWay >= SlowMax) || !_underWay.TryAdd(peer, isSlow)) return false;
        if (isSlow) _slowUnderWay++;
        return true;
    }

    /// <summary>The call is over, whatever came of it.</summary>
    public void Give(InstanceId peer, TimeSpan took)
    {
        if (!_underWay.Remove(peer, out bool wasSlow)) throw new InvalidOperationException($"no call to {peer} is under way");
        if (wasSlow) _slowUnderWay--;
        if (took >= SlowAfter) _slow.Add(peer);
        else _slow.Remove(peer);
    }
}
