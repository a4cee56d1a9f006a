using Ambrosia.Protocol.Payloads;

namespace Ambrosia.Protocol.Frames;

/// <summary>The app's first frame, which says who it is (protocol P5.1). The coordinator decides whether it accepts it (P5.2).</summary>
/// <param name="Token">32 secret bytes, which are compared in constant time and never printed.</param>
/// <param name="ContractHash">Hash of the contracts that the app serves and uses.</param>
public sealed record AppHello(
    ushort VersionMin, ushort VersionMax, ReadOnlyMemory<byte> Token, uint AppVersion, uint ImageVersion,
    string Binding, string Runtime, string Culture, string Cpu, ulong ContractHash, uint ProcessId) : IFramePayload<AppHello>
{
    public const int TokenBytes = 32;
    private const int ShortTextMax = 64, RuntimeMax = 128;

    public static FrameType Type => FrameType.AppHello;

    public int BytesMax => 4 + 1 + TokenBytes + 8 + 3 * (1 + ShortTextMax) + 2 + RuntimeMax + 12;

    public bool Supports(ushort version) => VersionMin <= version && version <= VersionMax;

    public void Write(ref PayloadWriter to)
    {
        if (Token.Length != TokenBytes) throw new ArgumentException($"token of {Token.Length} bytes instead of {TokenBytes}");
        to.U16(VersionMin);
        to.U16(VersionMax);
        to.Bytes(Token.Span, TokenBytes);
        to.U32(AppVersion);
        to.U32(ImageVersion);
        to.String(Binding, ShortTextMax);
        to.String(Runtime, RuntimeMax);
        to.String(Culture, ShortTextMax);
        to.String(Cpu, ShortTextMax);
        to.U64(ContractHash);
        to.U32(ProcessId);
    }

    public static AppHello Read(ReadOnlySpan<byte> payload)
    {
        var from = PayloadReader.OfFrame(payload, "P5.1");
        var hello = new AppHello(
            from.U16(), from.U16(), ReadToken(ref from), from.U32(), from.U32(),
            from.String(ShortTextMax), from.String(RuntimeMax), from.String(ShortTextMax), from.String(ShortTextMax),
            from.U64(), from.U32());
        from.End();
        return hello;
    }

    public bool Equals(AppHello? other) =>
        other is not null && (VersionMin, VersionMax, AppVersion, ImageVersion, Binding, Runtime, Culture) ==
            (other.VersionMin, other.VersionMax, other.AppVersion, other.ImageVersion, other.Binding, other.Runtime, other.Culture)
        && (Cpu, ContractHash, ProcessId) == (other.Cpu, other.ContractHash, other.ProcessId)
        && Token.Span.SequenceEqual(other.Token.Span);

    public override int GetHashCode() => HashCode.Combine(AppVersion, ImageVersion, ContractHash, ProcessId);

    public override string ToString() => $"AppHello {{ {Binding}, {Runtime}, app version {AppVersion}, process {ProcessId} }}";

    private static byte[] ReadToken(ref PayloadReader from)
    {
        ReadOnlySpan<byte> token = from.Bytes(TokenBytes);
        return token.Length == TokenBytes ? token.ToArray() : throw from.Violation("P5.1", $"token of {token.Length} bytes");
    }
}
