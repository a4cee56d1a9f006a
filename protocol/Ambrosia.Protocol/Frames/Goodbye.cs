namespace Ambrosia.Protocol;

/// <summary>The sender closes now, and says why (protocol P5.12). A longer reason than 1,024 bytes is cut when written.</summary>
public sealed record Goodbye(GoodbyeCode Code, string Why) : IFramePayload<Goodbye>
{
    private const int WhyBytesMax = 1024;

    public static FrameType Type => FrameType.Goodbye;

    public int BytesMax => 1 + 2 + WhyBytesMax;

    public void Write(ref PayloadWriter to)
    {
        to.U8((byte)Code);
        to.CutString(Why, WhyBytesMax);
    }

    public static Goodbye Read(ReadOnlySpan<byte> payload)
    {
        var from = PayloadReader.OfFrame(payload, "P5.12");
        byte code = from.U8();
        if (code > (byte)GoodbyeCode.AppFailed) throw from.Violation("P5.12", $"goodbye with code {code}");
        var goodbye = new Goodbye((GoodbyeCode)code, from.String(WhyBytesMax));
        from.End();
        return goodbye;
    }
}
