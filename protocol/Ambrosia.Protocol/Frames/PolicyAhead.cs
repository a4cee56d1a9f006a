using Ambrosia.Protocol.Payloads;
using Ambrosia.Protocol.Records;

namespace Ambrosia.Protocol.Frames;

/// <summary>
/// Tells an app which fork policies the Policy records further on in the log put into force (protocol P5.17). An app that replays must know
/// them before it stops at a failed fork where an earlier one stopped.
/// </summary>
/// <param name="Changes">Changes in the order of the log; the last one may be the first that says Continue.</param>
public sealed record PolicyAhead(IReadOnlyList<PolicyChange> Changes) : IFramePayload<PolicyAhead>
{
    /// <summary>
    /// This many changes suffice even after many primaries: of neighbours that say the same only the first is sent, and nothing behind the
    /// first Continue is needed.
    /// </summary>
    public const int ChangesMax = 1024;
    private const int ChangeBytes = 8 + 1;

    public static FrameType Type => FrameType.PolicyAhead;

    public int BytesMax => 2 + Changes.Count * ChangeBytes;

    public void Write(ref PayloadWriter to)
    {
        if (Changes.Count > ChangesMax)
            throw new ArgumentException($"{Changes.Count} changes of policy where at most {ChangesMax} are allowed", nameof(Changes));
        to.Varint((ulong)Changes.Count);
        foreach (PolicyChange change in Changes)
        {
            to.U64(change.Position.Value);
            to.U8((byte)change.Forks);
        }
    }

    public static PolicyAhead Read(ReadOnlySpan<byte> payload)
    {
        var from = PayloadReader.OfFrame(payload, "P5.17");
        var changes = new PolicyChange[from.Count(ChangeBytes)];
        if (changes.Length > ChangesMax) throw from.Violation("P5.17", $"{changes.Length} changes of policy");
        for (int i = 0; i < changes.Length; i++)
        {
            Lsn position = from.Lsn();
            byte forks = from.U8();
            if (forks > (byte)ForkPolicy.Quarantine || (i > 0 && position <= changes[i - 1].Position))
                throw from.Violation("P5.17", $"fork policy {forks} at {position}");
            changes[i] = new PolicyChange(position, (ForkPolicy)forks);
        }
        from.End();
        return new PolicyAhead(changes);
    }

    public bool Equals(PolicyAhead? other) => other is not null && Changes.SequenceEqual(other.Changes);

    public override int GetHashCode() => Changes.Count;
}
