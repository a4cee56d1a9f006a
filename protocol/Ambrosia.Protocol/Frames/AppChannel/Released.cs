namespace Ambrosia.Protocol;

/// <summary>A message is in the app's quarantine no more: it was tried again, or dropped (protocol P5.16).</summary>
public readonly record struct Released(MessagePlace Message) : IFramePayload<Released>
{
    public static FrameType Type => FrameType.Released;

    public int BytesMax => 12;

    public void Write(ref PayloadWriter to) => Message.Write(ref to);

    public static Released Read(ReadOnlySpan<byte> payload)
    {
        var from = PayloadReader.OfFrame(payload, "P5.16");
        var frame = new Released(MessagePlace.Read(ref from));
        from.End();
        return frame;
    }
}
