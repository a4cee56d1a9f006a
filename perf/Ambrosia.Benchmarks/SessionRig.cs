using System.Buffers;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Payloads;
using Ambrosia.Protocol.Records;
using Ambrosia.Protocol.Runs;

namespace Ambrosia.Benchmarks;

/// <summary>A binding's session without a coordinator: frames made by hand go in, what comes out is thrown away.</summary>
internal sealed class SessionRig
{
    public const string Replica = "r0";

    /// <summary>Who calls, and is called.</summary>
    public const string Peer = "caller";

    private const string Name = "rig";

    private readonly ImmortalSession _session;
    private ulong _lsn = 64;

    public SessionRig(ImmortalDefinition definition, bool isPrimary = false)
    {
        _session = new ImmortalSession(definition, new SessionOptions { Token = new byte[32], TaskRunner = new InlineTasks() });
        Feed(Welcome(Lsn.Zero, hasImage: false));
        Deliver(RecordKinds.EncodeWhole(new FirstStartRecord(Guid.Empty, 0, 1, Name)));
        Deliver(RecordKinds.EncodeWhole(new PeerRecord(1, new InstanceId(Peer), Guid.Empty, new Epoch(1))));
        if (isPrimary) Feed(new BecomePrimary(new Lsn(_lsn)));
    }

    private void Feed<T>(T frame) where T : IFramePayload<T>
    {
        var bytes = new ArrayBufferWriter<byte>();
        FrameWriter.Write(bytes, frame, 0, checkPayload: false);
        Run(bytes.WrittenMemory);
    }

    private void Deliver(ReadOnlySpan<byte> records) => Execute(DeliverFrame(records));

    /// <summary>Executes a Deliver frame as the next one of the log.</summary>
    public void Execute(byte[] frame)
    {
        Advance(frame);
        Run(frame);
    }

    private void Advance(byte[] frame)
    {
        new DeliverHeader(new Lsn(_lsn), 1, Lsn.Zero).Write(frame.AsSpan(FrameHeader.Bytes));
        _lsn += (ulong)(frame.Length - FrameHeader.Bytes - DeliverHeader.Bytes);
    }

    /// <summary>The same with a checkpoint's mark; what the session says goes away while it is said, as through a socket.</summary>
    public void ExecuteForImage(byte[] frame, TakeOutput take)
    {
        Advance(frame);
        _session.OutputClosed = _ => Drain(take);
        Run(frame, take);
        _session.OutputClosed = null;
    }

    /// <summary>The same, and gives the frames of the image that the session writes.</summary>
    public byte[] ExecuteForImage(byte[] frame)
    {
        var output = new ArrayBufferWriter<byte>();
        ExecuteForImage(frame, piece => output.Write(piece));
        var image = new ArrayBufferWriter<byte>();
        ReadOnlySpan<byte> left = output.WrittenSpan;
        while (FrameReader.TryRead(left, 0, SizeLimits.MessageBytesMaxDefault, checkPayload: false, out FrameHeader header, out _,
            out int size) == DecodeStatus.Ok)
        {
            if (header.Type is FrameType.ImageBegin or FrameType.ImageChunk or FrameType.ImageEnd) image.Write(left[..size]);
            left = left[size..];
        }
        return image.WrittenSpan.ToArray();
    }

    /// <summary>A new session that begins with an image, as a session wrote it: its frames.</summary>
    public static void Restore(ImmortalDefinition definition, byte[] image)
    {
        var session = new ImmortalSession(definition, new SessionOptions { Token = new byte[32] });
        FrameReader.TryRead(image, 0, SizeLimits.ControlBytesMax, checkPayload: false, out _, out ReadOnlySpan<byte> first, out _);
        ImageBegin begin = ImageBegin.Read(first);
        var bytes = new ArrayBufferWriter<byte>();
        FrameWriter.Write(bytes, Welcome(begin.Position, hasImage: true), 0, checkPayload: false);
        if (session.Feed(bytes.WrittenMemory) != bytes.WrittenCount || session.Feed(image) != image.Length || session.End is not null)
            throw new InvalidOperationException($"the image was not taken: {session.End?.Why}");
    }

    /// <summary>A new session that begins with an image in what a session said, which comes in pieces.</summary>
    public static object Restore(ImmortalDefinition definition, Stream from)
    {
        const int PieceBytes = 2 << 20;
        var session = new ImmortalSession(definition, new SessionOptions { Token = new byte[32] });
        byte[] piece = new byte[PieceBytes];
        int end = 0;
        bool isBegun = false;
        for (int read; (read = from.Read(piece, end, piece.Length - end)) > 0 || end > 0;)
        {
            end += read;
            int at = 0;
            while (FrameReader.TryRead(piece.AsSpan(at, end - at), 0, SizeLimits.MessageBytesMaxDefault, checkPayload: false,
                out FrameHeader header, out ReadOnlySpan<byte> payload, out int size) == DecodeStatus.Ok)
            {
                if (header.Type == FrameType.ImageBegin) isBegun = BeginWith(session, ImageBegin.Read(payload).Position);
                if (isBegun) session.Feed(piece.AsMemory(at, size));
                at += size;
                if (session.End is { } why) throw new InvalidOperationException($"the image was not taken: {why.Why}");
                if (header.Type == FrameType.ImageEnd) return session;
            }
            piece.AsSpan(at, end - at).CopyTo(piece);
            end -= at;
        }
        throw new InvalidOperationException("there is no whole image");
    }

    private static bool BeginWith(ImmortalSession session, Lsn position)
    {
        var bytes = new ArrayBufferWriter<byte>();
        FrameWriter.Write(bytes, Welcome(position, hasImage: true), 0, checkPayload: false);
        return session.Feed(bytes.WrittenMemory) == bytes.WrittenCount;
    }

    private static AppWelcome Welcome(Lsn checkpoint, bool hasImage) =>
        new(1, new InstanceId(Name), Replica, Guid.Empty, new Epoch(1), 1, SizeLimits.MessageBytesMaxDefault, checkpoint, hasImage);

    /// <summary>A frame with one record.</summary>
    public static byte[] RecordFrame<T>(T record)
        where T : IRecordBody<T> => DeliverFrame(RecordKinds.EncodeWhole(record));

    /// <summary>A frame with one run from the peer.</summary>
    public static byte[] RunFrame(byte[] messages, uint count, MessageKind kind = MessageKind.Fork)
    {
        var header = new RunHeader(kind, false, 0, 1, 1, count, 0, 0);
        byte[] record = new byte[RecordHeader.Bytes + RunHeader.Bytes + messages.Length];
        new RecordHeader((uint)(RunHeader.Bytes + messages.Length), RecordKind.Run).Write(record);
        header.Write(record.AsSpan(RecordHeader.Bytes));
        messages.CopyTo(record, RecordHeader.Bytes + RunHeader.Bytes);
        return DeliverFrame(record);
    }

    /// <summary>A frame with records as they stand.</summary>
    public static byte[] Frame(ReadOnlySpan<byte> records) => DeliverFrame(records);

    private static byte[] DeliverFrame(ReadOnlySpan<byte> records)
    {
        byte[] frame = new byte[FrameHeader.Bytes + DeliverHeader.Bytes + records.Length];
        new FrameHeader((uint)(frame.Length - FrameHeader.Bytes), FrameType.Deliver, 0).Write(frame, 0);
        records.CopyTo(frame.AsSpan(FrameHeader.Bytes + DeliverHeader.Bytes));
        return frame;
    }

    /// <summary>Feeds a frame and throws the output away, or keeps it.</summary>
    private void Run(ReadOnlyMemory<byte> frame, TakeOutput? output = null)
    {
        if (_session.Feed(frame) != frame.Length || _session.End is not null)
            throw new InvalidOperationException($"the session took a part only: {_session.End?.Why}");
        _session.InputDry();
        Drain(output);
    }

    private void Drain(TakeOutput? output)
    {
        while (_session.TryTakeOutput(out ReadOnlyMemory<byte> bytes))
        {
            output?.Invoke(bytes.Span);
            _session.OutputTaken(bytes.Length);
        }
    }
}

/// <summary>Takes a stretch of what a session says.</summary>
internal delegate void TakeOutput(ReadOnlySpan<byte> bytes);
