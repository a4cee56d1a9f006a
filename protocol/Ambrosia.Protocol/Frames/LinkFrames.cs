using System.Buffers.Binary;
using Ambrosia.Protocol.Payloads;

namespace Ambrosia.Protocol.Frames;

/// <summary>
/// The first frame of each end of a link (protocol P6.2) says who the sender is, whom it believes to speak to, and how much it has of the
/// other side's outputs. "Peer" is the receiver of the frame. P6.3 to P6.5 decide whether the hello is accepted; this type does not.
/// </summary>
/// <param name="Nonce">Orders connections of the same pair and epochs (P6.10).</param>
/// <param name="PeerUuid">UUID of the peer; zero if it is unknown.</param>
/// <param name="PeerEpoch">Highest epoch seen of the peer; 0 if none was seen.</param>
/// <param name="Durable">Number of the last input from the peer that is durable here; the peer resumes with the next.</param>
/// <param name="Hash">The peer's channel hash at <paramref name="Durable"/>.</param>
/// <param name="Trimmed">Number up to which the sender has dropped its own outputs to the peer.</param>
/// <param name="Impulses">Number of impulses of the peer's <paramref name="ImpulseEpoch"/> that are durable here.</param>
/// <param name="MessageBytesMax">Message limit of the sender, in bytes.</param>
public sealed record Hello(
    ushort VersionMin, ushort VersionMax, Guid Uuid, InstanceId Instance, string Replica, Epoch Epoch, ulong Nonce,
    string PeerName, Guid PeerUuid, Epoch PeerEpoch, ulong Durable, ulong Hash, ulong Trimmed,
    Epoch ImpulseEpoch, ulong Impulses, uint MessageBytesMax) : IFramePayload<Hello>
{
    /// <summary>The option with the numbers that the sender's claims have drawn (P6.12).</summary>
    private const ulong ClaimsOption = 1;

    /// <summary>The option with the number that the peer's claim of <see cref="PeerEpoch"/> had drawn (P6.12).</summary>
    private const ulong PeerClaimOption = 2;

    public static FrameType Type => FrameType.Hello;

    /// <summary>Options say what its fields cannot.</summary>
    public HelloOptions Options { get; init; } = HelloOptions.None;

    /// <summary>The numbers that the sender's last claims have drawn, that of <see cref="Epoch"/> at their end.</summary>
    public ClaimHistory Claims
    {
        get => Options[ClaimsOption] is { } claims ? ClaimHistory.TryRead(claims.Span)! : ClaimHistory.None;
        init => Options = Options.With(ClaimsOption, value.Last.Number == 0 ? null : value.ToBytes());
    }

    /// <summary>
    /// The number that the peer's claim of <see cref="PeerEpoch"/> had drawn as the sender has seen it; 0: it is not known.
    /// </summary>
    public ulong PeerClaim
    {
        get => Options[PeerClaimOption] is { } claim ? BinaryPrimitives.ReadUInt64LittleEndian(claim.Span) : 0;
        init => Options = Options.With(PeerClaimOption, value == 0 ? null : HelloOptions.ValueOf(value));
    }

    public int BytesMax => 4 + 16 + 2 + 3 * (1 + Names.CharsMax) + 8 + 8 + 16 + 6 * 8 + 4 + 8 + HelloOptions.BytesMax;

    public bool Supports(ushort version) => VersionMin <= version && version <= VersionMax;

    public void Write(ref PayloadWriter to)
    {
        to.U16(VersionMin);
        to.U16(VersionMax);
        to.Uuid(Uuid);
        to.U16(Instance.Shard);
        to.Name(Instance.Name);
        to.Name(Replica);
        to.U64(Epoch.Value);
        to.U64(Nonce);
        to.Name(PeerName);
        to.Uuid(PeerUuid);
        to.U64(PeerEpoch.Value);
        to.U64(Durable);
        to.U64(Hash);
        to.U64(Trimmed);
        to.U64(ImpulseEpoch.Value);
        to.U64(Impulses);
        to.U32(MessageBytesMax);
        to.U64(0); // features: none have a meaning yet
        Options.Write(ref to);
    }

    public static Hello Read(ReadOnlySpan<byte> payload)
    {
        var from = PayloadReader.OfFrame(payload, "P6.2");
        ushort versionMin = from.U16(), versionMax = from.U16();
        Guid uuid = from.Uuid();
        ushort shard = from.U16();
        var hello = new Hello(
            versionMin, versionMax, uuid, new InstanceId(from.Name(), shard), from.Name(), new Epoch(from.U64()), from.U64(),
            from.Name(), from.Uuid(), new Epoch(from.U64()), from.U64(), from.U64(), from.U64(),
            new Epoch(from.U64()), from.U64(), from.MessageLimit());
        ulong features = from.U64();
        if (features != 0) throw from.Violation("P1.6", $"features 0x{features:X} that this version does not have");
        hello = hello with { Options = HelloOptions.Read(ref from) };
        if (hello.Options[ClaimsOption] is { } claims
            && (ClaimHistory.TryRead(claims.Span) is not { } read || read.Last.Epoch != hello.Epoch))
            throw from.Violation("P6.12", $"claims of {claims.Length} bytes that are no history up to epoch {hello.Epoch}");
        if (hello.Options[PeerClaimOption] is { Length: not sizeof(ulong) } claim)
            throw from.Violation("P6.12", $"a claim's number of {claim.Length} bytes");
        from.End();
        return hello;
    }
}

/// <summary>States which of the other side's calls and impulses are durable here (protocol P6.8). The statement is cumulative.</summary>
/// <param name="Durable">Number of the last durable call.</param>
/// <param name="Impulses">Number of the last durable impulse of <paramref name="ImpulseEpoch"/>.</param>
public readonly record struct Ack(ulong Durable, Epoch ImpulseEpoch, ulong Impulses) : IFramePayload<Ack>
{
    public static FrameType Type => FrameType.Ack;

    public int BytesMax => 24;

    public void Write(ref PayloadWriter to)
    {
        to.U64(Durable);
        to.U64(ImpulseEpoch.Value);
        to.U64(Impulses);
    }

    public static Ack Read(ReadOnlySpan<byte> payload)
    {
        var from = PayloadReader.OfFrame(payload, "P6.8");
        var ack = new Ack(from.U64(), new Epoch(from.U64()), from.U64());
        from.End();
        return ack;
    }
}

/// <summary>
/// The last frame of a sender that closes the connection says why (protocol P5.12). A reason longer than 1,024 bytes is cut when it is
/// written.
/// </summary>
public sealed record Goodbye(GoodbyeCode Code, string Why) : IFramePayload<Goodbye>
{
    /// <summary>A refusal of an app begins with it if the app cannot restore the image that it was given.</summary>
    public const string OfImage = "image: ";

    private const int WhyBytesMax = 1024;

    public static FrameType Type => FrameType.Goodbye;

    /// <summary>Why an app cannot restore the image that it was given; null: it ends for another reason.</summary>
    public string? WhyUnrestorable =>
        Code == GoodbyeCode.Refused && Why.StartsWith(OfImage, StringComparison.Ordinal) ? Why[OfImage.Length..] : null;

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
        if (code > (byte)GoodbyeCode.Again) throw from.Violation("P5.12", $"goodbye with code {code}");
        var goodbye = new Goodbye((GoodbyeCode)code, from.String(WhyBytesMax));
        from.End();
        return goodbye;
    }
}

/// <summary>Says why a connection is closed (protocol P5.12).</summary>
public enum GoodbyeCode : byte { CleanStop = 0, Refused = 1, ProtocolViolation = 2, Divergence = 3, AppFailed = 4, Again = 5 }
