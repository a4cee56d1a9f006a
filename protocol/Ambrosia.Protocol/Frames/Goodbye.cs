using Ambrosia.Protocol.Payloads;

namespace Ambrosia.Protocol.Frames;

/// <summary>
/// The last frame of a sender that closes the connection says why (protocol P5.12). A reason longer than 1,024 bytes is cut when it is
/// written.
/// </summary>
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

/// <summary>Says why a connection is closed (protocol P5.12).</summary>
public enum GoodbyeCode : byte { CleanStop = 0, Refused = 1, ProtocolViolation = 2, Divergence = 3, AppFailed = 4 }
