using Ambrosia.Protocol.Payloads;

namespace Ambrosia.Protocol.Frames;

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
    public static FrameType Type => FrameType.AppWelcome;

    public int BytesMax => 2 + 2 * (1 + Names.CharsMax) + 2 + 16 + 8 + 8 + 4 + 8 + 1;

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
    }

    public static AppWelcome Read(ReadOnlySpan<byte> payload)
    {
        var from = PayloadReader.OfFrame(payload, "P5.3");
        var welcome = new AppWelcome(
            from.U16(), new InstanceId(from.Name(), from.U16()), from.Name(), from.Uuid(), new Epoch(from.U64()), from.U64(),
            from.MessageLimit(), from.Lsn(), from.Flag());
        from.End();
        return welcome;
    }
}
