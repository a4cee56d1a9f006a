using System.Diagnostics.CodeAnalysis;
using Ambrosia.Protocol.Records;

namespace Ambrosia.ClientCalls;

/// <summary>
/// Holds the keyed calls from outside: those under way, and the answers of finished ones for as long as the policy in the log says. Its
/// content follows from the log, so that every replica has the same at the same record; it is part of the checkpoint. Thread: the
/// scheduler's. Invariants: an answer leaves by its age or by the limits, oldest first, and only between records; a call that is under way
/// never leaves.
/// </summary>
internal sealed class IdempotencyWindow
{
    private readonly Dictionary<CallKey, OutsideCall> _byKey = [];
    private readonly Queue<OutsideCall> _answered = new();
    private long _bytes;

    internal WindowLimits Limits { get; set; } = WindowLimits.Of(PolicyRecord.Default);

    /// <summary>All calls for the image: the answers, oldest first, then what is under way; the same on every replica.</summary>
    internal OutsideCall[] ToImage() =>
        [.. _answered,
            .. _byKey.Values.Where(static call => !call.IsDone).OrderBy(static call => call.Method)
                .ThenBy(static call => Convert.ToHexString(call.Key), StringComparer.Ordinal)];

    /// <summary>True while the limits are exceeded, to be mended at the next boundary between records.</summary>
    internal bool IsOver => (ulong)_answered.Count > Limits.EntriesMax || (ulong)_bytes > Limits.BytesMax;

    /// <summary>
    /// Finds a known call. Its answer, if it has one, is not older than the window at <paramref name="keyTimeUs"/>.
    /// </summary>
    internal bool TryFind(uint method, ReadOnlySpan<byte> key, long keyTimeUs, [NotNullWhen(true)] out OutsideCall? call)
    {
        DropOlder(keyTimeUs);
        return _byKey.TryGetValue(new CallKey(method, key.ToArray()), out call);
    }

    internal void Begin(OutsideCall call) => _byKey.Add(new CallKey(call.Method, call.Key), call);

    /// <summary>Keeps the answer of a call that was under way, or is restored.</summary>
    internal void Done(OutsideCall call)
    {
        _answered.Enqueue(call);
        _bytes += call.Bytes;
    }

    internal void Restore(WindowLimits limits, OutsideCall[] calls)
    {
        Limits = limits;
        foreach (OutsideCall call in calls)
        {
            Begin(call);
            if (call.IsDone) Done(call);
        }
    }

    /// <summary>Drops answers, oldest first, until the limits hold again.</summary>
    internal void Trim()
    {
        while (IsOver) DropOldest();
    }

    private void DropOlder(long keyTimeUs)
    {
        while (_answered.TryPeek(out OutsideCall? oldest) && keyTimeUs > oldest.TimeUs && (ulong)(keyTimeUs - oldest.TimeUs) >= Limits.AgeUs)
            DropOldest();
    }

    private void DropOldest()
    {
        OutsideCall oldest = _answered.Dequeue();
        _bytes -= oldest.Bytes;
        _byKey.Remove(new CallKey(oldest.Method, oldest.Key));
    }

    /// <summary>Names a keyed call by its method and its key, which are compared by content.</summary>
    private readonly struct CallKey(uint method, byte[] key) : IEquatable<CallKey>
    {
        private readonly uint _method = method;
        private readonly byte[] _key = key;

        public bool Equals(CallKey other) => _method == other._method && _key.AsSpan().SequenceEqual(other._key);

        public override bool Equals(object? obj) => obj is CallKey other && Equals(other);

        public override int GetHashCode()
        {
            var hash = new HashCode();
            hash.Add(_method);
            hash.AddBytes(_key);
            return hash.ToHashCode();
        }
    }
}
