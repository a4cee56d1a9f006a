namespace Ambrosia.Protocol;

/// <summary>A message whose handler threw is in the app's quarantine (protocol P5.16).</summary>
/// <param name="Decision">Which setting aside of this instance's life it was, from 1.</param>
/// <param name="IsUnlogged">The app is primary and has not executed the Quarantine record that states this decision: it
/// is to be logged.</param>
/// <param name="TimeUs">Log time of the last try, µs since 1970.</param>
/// <param name="Tries">How often the handler has thrown, from 1.</param>
/// <param name="ArgumentBytes">What the quarantine keeps of the message.</param>
/// <param name="Why">The exception, for people; cut at 1,024 bytes when written.</param>
public sealed record SetAside(
    ulong Decision, MessagePlace Message, bool IsUnlogged, long TimeUs, InstanceId Caller, MessageKind Kind, uint Method, uint Tries,
    ulong ArgumentBytes, string Why) : IFramePayload<SetAside>
{
    private const int WhyBytesMax = 1024;

    public static FrameType Type => FrameType.SetAside;

    public int BytesMax => 8 + 12 + 1 + 8 + 2 + 1 + Names.CharsMax + 1 + 4 + 4 + 8 + 2 + WhyBytesMax;

    public void Write(ref PayloadWriter to)
    {
        to.U64(Decision);
        Message.Write(ref to);
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

    public static SetAside Read(ReadOnlySpan<byte> payload)
    {
        var from = PayloadReader.OfFrame(payload, "P5.16");
        ulong decision = from.U64();
        if (decision == 0) throw from.Violation("P5.16", "decision 0");
        MessagePlace place = MessagePlace.Read(ref from);
        bool isUnlogged = from.Flag();
        long timeUs = from.I64();
        ushort shard = from.U16();
        var caller = new InstanceId(from.Name(), shard);
        var kind = (MessageKind)from.U8();
        if (kind is not (MessageKind.Fork or MessageKind.Impulse))
            throw from.Violation("P5.16", $"a message of kind {(byte)kind} set aside");
        var frame = new SetAside(decision, place, isUnlogged, timeUs, caller, kind, from.U32(), from.U32(), from.U64(),
            from.String(WhyBytesMax));
        from.End();
        return frame;
    }
}
