// Keyed calls from outside: those under way, and the answers of those that are done for as long as the policy says. All of it follows
// from the log, so that every replica has the same at the same record, and it stands in the checkpoint. Thread: the scheduler's.
// Invariants: an answer leaves by its age or by the limits, oldest first and only between records; what is under way never leaves.
using System.Diagnostics.CodeAnalysis;
using Ambrosia.Protocol;

namespace Ambrosia;

internal sealed class IdempotencyWindow
{
    private readonly Dictionary<CallKey, OutsideCall> byKey = [];
    private readonly Queue<OutsideCall> answered = new();
    private long bytes;

    internal WindowLimits Limits { get; set; } = WindowLimits.Of(PolicyRecord.Default);

    /// <summary>The answers, oldest first, then what is under way; the same on every replica.</summary>
    internal OutsideCall[] ToImage() =>
        [.. answered,
            .. byKey.Values.Where(static call => !call.IsDone).OrderBy(static call => call.Method)
                .ThenBy(static call => Convert.ToHexString(call.Key), StringComparer.Ordinal)];

    /// <summary>The limits are exceeded: to be mended at the next boundary between records.</summary>
    internal bool IsOver => (ulong)answered.Count > Limits.EntriesMax || (ulong)bytes > Limits.BytesMax;

    /// <summary>A known call; its answer, if it has one, is not older than the window at <paramref name="nowUs"/>.</summary>
    internal bool TryFind(uint method, ReadOnlySpan<byte> key, long nowUs, [NotNullWhen(true)] out OutsideCall? call)
    {
        DropOlder(nowUs);
        return byKey.TryGetValue(new CallKey(method, key.ToArray()), out call);
    }

    internal void Begin(OutsideCall call) => byKey.Add(new CallKey(call.Method, call.Key), call);

    /// <summary>A call that is under way, or restored, has its answer.</summary>
    internal void Done(OutsideCall call)
    {
        answered.Enqueue(call);
        bytes += call.Bytes;
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

    /// <summary>Makes the limits hold again.</summary>
    internal void Trim()
    {
        while (IsOver) DropOldest();
    }

    private void DropOlder(long nowUs)
    {
        while (answered.TryPeek(out OutsideCall? oldest) && nowUs > oldest.TimeUs && (ulong)(nowUs - oldest.TimeUs) >= Limits.AgeUs)
            DropOldest();
    }

    private void DropOldest()
    {
        OutsideCall oldest = answered.Dequeue();
        bytes -= oldest.Bytes;
        byKey.Remove(new CallKey(oldest.Method, oldest.Key));
    }

    /// <summary>Equal by content.</summary>
    private readonly struct CallKey(uint method, byte[] key) : IEquatable<CallKey>
    {
        private readonly uint method = method;
        private readonly byte[] key = key;

        public bool Equals(CallKey other) => method == other.method && key.AsSpan().SequenceEqual(other.key);

        public override bool Equals(object? obj) => obj is CallKey other && Equals(other);

        public override int GetHashCode()
        {
            var hash = new HashCode();
            hash.Add(method);
            hash.AddBytes(key);
            return hash.ToHashCode();
        }
    }
}
