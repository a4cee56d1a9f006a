using Ambrosia.Protocol.Payloads;
using Ambrosia.Protocol.Runs;

namespace Ambrosia.Protocol.Frames;

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
