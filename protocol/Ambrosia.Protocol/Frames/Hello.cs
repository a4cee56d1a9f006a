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
    public static FrameType Type => FrameType.Hello;

    public int BytesMax => 4 + 16 + 2 + 3 * (1 + Names.CharsMax) + 8 + 8 + 16 + 6 * 8 + 4 + 8;

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
        from.End();
        return hello;
    }
}
