using Ambrosia.Protocol.Payloads;
using Ambrosia.Protocol.Records;
using Ambrosia.Protocol.Runs;

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

/// <summary>States one change of the fork policy, which comes into force with the Policy record at this position.</summary>
public readonly record struct PolicyChange(Lsn Position, ForkPolicy Forks);

/// <summary>States that a message whose handler threw is in the app's quarantine now (protocol P5.16).</summary>
/// <param name="Decision">Number of this decision among all of the instance's life that put a message into quarantine, from 1.</param>
/// <param name="IsUnlogged">Whether the coordinator must log the decision: the app is primary and has not executed a Quarantine record that
/// states it.</param>
/// <param name="TimeUs">Log time of the last try, µs since 1970.</param>
/// <param name="Tries">How often the handler has thrown, from 1.</param>
/// <param name="ArgumentBytes">Bytes of arguments that the quarantine keeps of the message.</param>
/// <param name="Why">Text of the exception for people; it is cut at 1,024 bytes when it is written.</param>
public sealed record SetAsideFrame(
    ulong Decision, MessagePlace Message, bool IsUnlogged, long TimeUs, InstanceId Caller, MessageKind Kind, uint Method, uint Tries,
    ulong ArgumentBytes, string Why) : IFramePayload<SetAsideFrame>
{
    private const int WhyBytesMax = 1024;

    public static FrameType Type => FrameType.SetAside;

    public int BytesMax => 8 + 12 + 1 + 8 + 2 + 1 + Names.CharsMax + 1 + 4 + 4 + 8 + 2 + WhyBytesMax;

    public void Write(ref PayloadWriter to)
    {
        to.U64(Decision);
        to.Place(Message);
        to.U8(IsUnlogged ? (byte)1 : (byte)0);
        to.I64(TimeUs);
        to.U16(Caller.Shard);
        to.Name(Caller.Name);
        to.U8((byte)Kind);
        to.U32(Method);
        to.U32(Tries);
        to.U64(ArgumentBytes);
        to.CutString(Why, WhyBytesMax);
    }

    public static SetAsideFrame Read(ReadOnlySpan<byte> payload)
    {
        var from = PayloadReader.OfFrame(payload, "P5.16");
        ulong decision = from.U64();
        if (decision == 0) throw from.Violation("P5.16", "decision 0");
        MessagePlace place = from.Place();
        bool isUnlogged = from.Flag();
        long timeUs = from.I64();
        ushort shard = from.U16();
        var caller = new InstanceId(from.Name(), shard);
        var kind = (MessageKind)from.U8();
        if (kind is not (MessageKind.Fork or MessageKind.Impulse))
            throw from.Violation("P5.16", $"a message of kind {(byte)kind} set aside");
        var frame = new SetAsideFrame(decision, place, isUnlogged, timeUs, caller, kind, from.U32(), from.U32(), from.U64(),
            from.String(WhyBytesMax));
        from.End();
        return frame;
    }
}

/// <summary>States that a message has left the app's quarantine, because it was tried again or dropped (protocol P5.16).</summary>
public readonly record struct ReleasedFrame(MessagePlace Message) : IFramePayload<ReleasedFrame>
{
    public static FrameType Type => FrameType.Released;

    public int BytesMax => 12;

    public void Write(ref PayloadWriter to) => to.Place(Message);

    public static ReleasedFrame Read(ReadOnlySpan<byte> payload)
    {
        var from = PayloadReader.OfFrame(payload, "P5.16");
        var frame = new ReleasedFrame(from.Place());
        from.End();
        return frame;
    }
}
