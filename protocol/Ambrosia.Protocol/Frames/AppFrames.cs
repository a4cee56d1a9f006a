using System.Buffers.Binary;
using System.Numerics;
using Ambrosia.Protocol.Payloads;
using Ambrosia.Protocol.Records;

namespace Ambrosia.Protocol.Frames;

/// <summary>The app's first frame, which says who it is (protocol P5.1). The coordinator decides whether it accepts it (P5.2).</summary>
/// <param name="Token">32 secret bytes, which are compared in constant time and never printed.</param>
/// <param name="ContractHash">The hash of the contract that the app serves (docs/contract.md C1.7).</param>
public sealed record AppHello(
    ushort VersionMin, ushort VersionMax, ReadOnlyMemory<byte> Token, uint AppVersion, uint ImageVersion,
    string Binding, string Runtime, string Culture, string Cpu, ulong ContractHash, uint ProcessId) : IFramePayload<AppHello>
{
    public const int TokenBytes = 32;
    /// <summary>The option that states the app's build; <see cref="FrameType.BuildMethods"/> follows a hello that has it.</summary>
    private const ulong BuildOption = 1;

    /// <summary>The option that states the lowest version whose records the app can execute (protocol P5.25).</summary>
    private const ulong LowestOption = 2;

    public static FrameType Type => FrameType.AppHello;

    /// <summary>Options say what its fields cannot.</summary>
    public HelloOptions Options { get; init; } = HelloOptions.None;

    public int BytesMax =>
        4 + 1 + TokenBytes + 8 + 3 * (1 + BuildRecord.ShortTextMax) + 2 + BuildRecord.RuntimeMax + 12 + HelloOptions.BytesMax;

    /// <summary>The build of the app; null when it does not say.</summary>
    public BuildId? Build
    {
        get => Options[BuildOption] is { } build ? BuildId.Of(build.Span) : null;
        init => Options = Options.With(BuildOption, value?.ToBytes());
    }

    /// <summary>The lowest version whose records the app can execute: its own, unless it says a lower one.</summary>
    public uint LowestVersion
    {
        get => Options[LowestOption] is { } lowest ? BinaryPrimitives.ReadUInt32LittleEndian(lowest.Span) : AppVersion;
        init => Options = Options.With(LowestOption, value == AppVersion ? null : HelloOptions.ValueOf(value));
    }

    /// <summary>The app can execute records of more than one version, and is told with which it begins.</summary>
    public bool HasVersions => LowestVersion != AppVersion;

    /// <summary>The app can execute records of this version.</summary>
    public bool Executes(uint version) => LowestVersion <= version && version <= AppVersion;

    public bool Supports(ushort version) => VersionMin <= version && version <= VersionMax;

    public void Write(ref PayloadWriter to)
    {
        if (Token.Length != TokenBytes) throw new ArgumentException($"token of {Token.Length} bytes instead of {TokenBytes}");
        to.U16(VersionMin);
        to.U16(VersionMax);
        to.Bytes(Token.Span, TokenBytes);
        to.U32(AppVersion);
        to.U32(ImageVersion);
        to.String(Binding, BuildRecord.ShortTextMax);
        to.String(Runtime, BuildRecord.RuntimeMax);
        to.String(Culture, BuildRecord.ShortTextMax);
        to.String(Cpu, BuildRecord.ShortTextMax);
        to.U64(ContractHash);
        to.U32(ProcessId);
        Options.Write(ref to);
    }

    public static AppHello Read(ReadOnlySpan<byte> payload)
    {
        var from = PayloadReader.OfFrame(payload, "P5.1");
        var hello = new AppHello(
            from.U16(), from.U16(), ReadToken(ref from), from.U32(), from.U32(),
            from.String(BuildRecord.ShortTextMax), from.String(BuildRecord.RuntimeMax), from.String(BuildRecord.ShortTextMax),
            from.String(BuildRecord.ShortTextMax),
            from.U64(), from.U32())
        {
            Options = HelloOptions.Read(ref from),
        };
        from.End();
        if (hello.Options[BuildOption] is { Length: not BuildId.Bytes } build)
            throw from.Violation("P5.1", $"a build of {build.Length} bytes instead of {BuildId.Bytes}");
        if (hello.Options[LowestOption] is { } lowest
            && (lowest.Length != sizeof(uint) || hello.LowestVersion == 0 || hello.LowestVersion > hello.AppVersion))
            throw from.Violation("P5.25", $"a lowest version of {lowest.Length} bytes that is not from 1 to {hello.AppVersion}");
        return hello;
    }

    public bool Equals(AppHello? other) =>
        other is not null && (VersionMin, VersionMax, AppVersion, ImageVersion, Binding, Runtime, Culture) ==
            (other.VersionMin, other.VersionMax, other.AppVersion, other.ImageVersion, other.Binding, other.Runtime, other.Culture)
        && (Cpu, ContractHash, ProcessId) == (other.Cpu, other.ContractHash, other.ProcessId) && Options.Equals(other.Options)
        && Token.Span.SequenceEqual(other.Token.Span);

    public override int GetHashCode() => HashCode.Combine(AppVersion, ImageVersion, ContractHash, ProcessId);

    public override string ToString() => $"AppHello {{ {Binding}, {Runtime}, app version {AppVersion}, process {ProcessId} }}";

    private static byte[] ReadToken(ref PayloadReader from)
    {
        ReadOnlySpan<byte> token = from.Bytes(TokenBytes);
        return token.Length == TokenBytes ? token.ToArray() : throw from.Violation("P5.1", $"token of {token.Length} bytes");
    }
}

/// <summary>
/// The coordinator answers an app that it accepts (protocol P5.3), and says which replica the app runs for and from where delivery starts.
/// </summary>
/// <param name="MessageBytesMax">Message limit of this instance, in bytes.</param>
/// <param name="Checkpoint">Position from which delivery starts.</param>
/// <param name="HasImage">Whether an image follows before the first Deliver.</param>
public sealed record AppWelcome(
    ushort Version, InstanceId Instance, string Replica, Guid Uuid, Epoch Epoch, ulong Session,
    uint MessageBytesMax, Lsn Checkpoint, bool HasImage) : IFramePayload<AppWelcome>
{
    /// <summary>The option that says whether the app lives (0) or is looked at in a view (1).</summary>
    private const ulong ModeOption = 1;

    /// <summary>The option that says with which version an app of several begins (protocol P5.25).</summary>
    private const ulong VersionOption = 2;

    /// <summary>The option that says of which version the image is, where the app is to convert it (protocol P5.25).</summary>
    private const ulong ImageOption = 3;

    public static FrameType Type => FrameType.AppWelcome;

    /// <summary>Options say what its fields cannot.</summary>
    public HelloOptions Options { get; init; } = HelloOptions.None;

    /// <summary>The app executes the log for somebody who looks at it, and nothing of what it does gets out (protocol P5.24).</summary>
    public bool IsView
    {
        get => Options[ModeOption] is { } mode && mode.Span[0] == 1;
        init => Options = Options.With(ModeOption, value ? new byte[] { 1 } : null);
    }

    /// <summary>The version with which the session begins; null: the app can execute one alone.</summary>
    public uint? RunsVersion
    {
        get => Options[VersionOption] is { } version ? BinaryPrimitives.ReadUInt32LittleEndian(version.Span) : null;
        init => Options = Options.With(VersionOption, value is { } version ? HelloOptions.ValueOf(version) : null);
    }

    /// <summary>The app is given the image of this version to convert it, and no records; null: the app executes the log.</summary>
    public uint? ConvertsFrom
    {
        get => Options[ImageOption] is { } version ? BinaryPrimitives.ReadUInt32LittleEndian(version.Span) : null;
        init => Options = Options.With(ImageOption, value is { } version ? HelloOptions.ValueOf(version) : null);
    }

    public int BytesMax => 2 + 2 * (1 + Names.CharsMax) + 2 + 16 + 8 + 8 + 4 + 8 + 1 + HelloOptions.BytesMax;

    public void Write(ref PayloadWriter to)
    {
        to.U16(Version);
        to.Name(Instance.Name);
        to.U16(Instance.Shard);
        to.Name(Replica);
        to.Uuid(Uuid);
        to.U64(Epoch.Value);
        to.U64(Session);
        to.U32(MessageBytesMax);
        to.U64(Checkpoint.Value);
        to.U8(HasImage ? (byte)1 : (byte)0);
        Options.Write(ref to);
    }

    public static AppWelcome Read(ReadOnlySpan<byte> payload)
    {
        var from = PayloadReader.OfFrame(payload, "P5.3");
        var welcome = new AppWelcome(
            from.U16(), new InstanceId(from.Name(), from.U16()), from.Name(), from.Uuid(), new Epoch(from.U64()), from.U64(),
            from.MessageLimit(), from.Lsn(), from.Flag())
        {
            Options = HelloOptions.Read(ref from),
        };
        from.End();
        if (welcome.Options[ModeOption] is { } mode && (mode.Length != 1 || mode.Span[0] > 1))
            throw from.Violation("P5.24", $"a mode of {mode.Length} bytes that is neither 0 nor 1");
        if (welcome.Options[VersionOption] is { } version && (version.Length != sizeof(uint) || welcome.RunsVersion == 0))
            throw from.Violation("P5.25", $"a version of {version.Length} bytes that is none from 1 on");
        if (welcome.Options[ImageOption] is { } image && (image.Length != sizeof(uint) || welcome.ConvertsFrom == 0 || !welcome.HasImage))
            throw from.Violation("P5.25", $"an image's version of {image.Length} bytes that is none from 1 on, or no image");
        return welcome;
    }
}

/// <summary>
/// A contract manifest of the app (protocol P5.21), for people who look at the log; the payload is the JSON itself.
/// </summary>
public static class ContractFrame
{
    /// <summary>A manifest has at most this many bytes.</summary>
    public const int BytesMax = 1024 * 1024;

    /// <summary>Checks the size of a manifest.</summary>
    /// <exception cref="ProtocolViolation">P5.21: it is empty or too large.</exception>
    public static ReadOnlySpan<byte> Read(ReadOnlySpan<byte> payload) =>
        payload.Length is > 0 and <= BytesMax ? payload : throw new ProtocolViolation("P5.21", $"contract manifest of {payload.Length} bytes");
}

/// <summary>
/// Says what each handler of the app's build executes (protocol P5.23, contract C4), so that a redeploy can be judged before it executes
/// anything again; the payload is the JSON itself.
/// </summary>
public static class BuildMethodsFrame
{
    /// <summary>The document has at most this many bytes.</summary>
    public const int BytesMax = 4 * 1024 * 1024;

    /// <summary>Checks the size of a document.</summary>
    /// <exception cref="ProtocolViolation">P5.23: it is empty or too large.</exception>
    public static ReadOnlySpan<byte> Read(ReadOnlySpan<byte> payload) =>
        payload.Length is > 0 and <= BytesMax ? payload : throw new ProtocolViolation("P5.23", $"methods of a build of {payload.Length} bytes");
}

/// <summary>Tells the app where the rings of shared memory are through which everything else goes (protocol P5.19).</summary>
/// <param name="Capacity">Bytes that each of them holds.</param>
/// <param name="Path">Path of the memory, as a file of the coordinator's process.</param>
public readonly record struct RingsFrame(uint Capacity, string Path) : IFramePayload<RingsFrame>
{
    /// <summary>A ring has this many bytes at least and at most; the number is a power of two.</summary>
    public const uint CapacityMin = 64 * 1024, CapacityMax = 64 * 1024 * 1024;

    private const int PathBytesMax = 1_024;

    public static FrameType Type => FrameType.Rings;

    public int BytesMax => 4 + 2 + PathBytesMax;

    public void Write(ref PayloadWriter to)
    {
        to.U32(Capacity);
        to.String(Path, PathBytesMax);
    }

    public static RingsFrame Read(ReadOnlySpan<byte> payload)
    {
        var from = PayloadReader.OfFrame(payload, "P5.19");
        var rings = new RingsFrame(from.U32(), from.String(PathBytesMax));
        from.End();
        if (rings.Capacity is < CapacityMin or > CapacityMax || !BitOperations.IsPow2(rings.Capacity))
            throw from.Violation("P5.19", $"rings of {rings.Capacity} bytes");
        return rings;
    }
}

/// <summary>The app declares the index by which later runs name a destination (protocol P5.5).</summary>
public sealed record DestinationFrame(uint Index, InstanceId Destination) : IFramePayload<DestinationFrame>
{
    /// <summary>Every index is below this limit.</summary>
    public const uint IndexLimit = 1 << 20;

    public static FrameType Type => FrameType.Destination;

    public int BytesMax => 4 + 2 + 1 + Names.CharsMax;

    public void Write(ref PayloadWriter to)
    {
        ArgumentOutOfRangeException.ThrowIfGreaterThanOrEqual(Index, IndexLimit);
        to.U32(Index);
        to.U16(Destination.Shard);
        to.Name(Destination.Name);
    }

    public static DestinationFrame Read(ReadOnlySpan<byte> payload)
    {
        var from = PayloadReader.OfFrame(payload, "P5.5");
        uint index = from.U32();
        if (index >= IndexLimit) throw from.Violation("P5.5", $"destination index {index}");
        ushort shard = from.U16();
        var frame = new DestinationFrame(index, new InstanceId(from.Name(), shard));
        from.End();
        return frame;
    }
}

/// <summary>
/// States that a checkpoint that was asked for is late or impossible, and why (protocol P5.8). A reason longer than 1,024 bytes is cut when
/// it is written.
/// </summary>
/// <param name="Mark">Position of the CheckpointMark record.</param>
public sealed record Waiting(Lsn Mark, string Why) : IFramePayload<Waiting>
{
    /// <summary>The beginning of a reason for which there is no checkpoint before the state is another one.</summary>
    public const string Refused = "refused: ";

    private const int WhyBytesMax = 1024;

    public static FrameType Type => FrameType.Waiting;

    /// <summary>True if the state is such that no image can hold it; otherwise the image is only late.</summary>
    public bool IsRefused => Why.StartsWith(Refused, StringComparison.Ordinal);

    public int BytesMax => 8 + 2 + WhyBytesMax;

    public void Write(ref PayloadWriter to)
    {
        to.U64(Mark.Value);
        to.CutString(Why, WhyBytesMax);
    }

    public static Waiting Read(ReadOnlySpan<byte> payload)
    {
        var from = PayloadReader.OfFrame(payload, "P5.8");
        var waiting = new Waiting(from.Lsn(), from.String(WhyBytesMax));
        from.End();
        return waiting;
    }
}

/// <summary>
/// The coordinator tells the app to become primary as soon as it has executed every record below this position (protocol P5.10).
/// </summary>
public readonly record struct BecomePrimary(Lsn Position) : IFramePayload<BecomePrimary>
{
    public static FrameType Type => FrameType.BecomePrimary;

    public int BytesMax => 8;

    public void Write(ref PayloadWriter to) => to.U64(Position.Value);

    public static BecomePrimary Read(ReadOnlySpan<byte> payload)
    {
        var from = PayloadReader.OfFrame(payload, "P5.10");
        var frame = new BecomePrimary(from.Lsn());
        from.End();
        return frame;
    }
}

/// <summary>States that the app has executed every record below this position and is primary now (protocol P5.10).</summary>
public readonly record struct PrimaryReady(Lsn Position) : IFramePayload<PrimaryReady>
{
    public static FrameType Type => FrameType.PrimaryReady;

    public int BytesMax => 8;

    public void Write(ref PayloadWriter to) => to.U64(Position.Value);

    public static PrimaryReady Read(ReadOnlySpan<byte> payload)
    {
        var from = PayloadReader.OfFrame(payload, "P5.10");
        var frame = new PrimaryReady(from.Lsn());
        from.End();
        return frame;
    }
}
