using System.Buffers;
using Ambrosia.Protocol;

namespace Ambrosia.Benchmarks;

/// <summary>A binding's session without a coordinator: frames made by hand go in, what comes out is thrown away.</summary>
internal sealed class SessionRig
{
    private const string Name = "rig";

    private readonly ImmortalSession session;
    private ulong lsn = 64;

    public SessionRig(ImmortalDefinition definition)
    {
        session = new ImmortalSession(definition, new SessionOptions { Token = new byte[32] });
        Feed(new AppWelcome(1, new InstanceId(Name), "r0", Guid.Empty, new Epoch(1), 1, Frames.MessageBytesMaxDefault, Lsn.Zero, false));
        Deliver(RecordKinds.EncodeWhole(new FirstStartRecord(Guid.Empty, 0, 1, Name)));
        Deliver(RecordKinds.EncodeWhole(new PeerRecord(1, new InstanceId("caller"), Guid.Empty, new Epoch(1))));
    }

    private void Feed<T>(T frame) where T : IFramePayload<T>
    {
        var bytes = new ArrayBufferWriter<byte>();
        Frames.Write(bytes, frame, 0, checkPayload: false);
        Run(bytes.WrittenMemory);
    }

    private void Deliver(ReadOnlySpan<byte> records) => Execute(DeliverFrame(records));

    /// <summary>Executes a Deliver frame as the next one of the log.</summary>
    public void Execute(byte[] frame)
    {
        new DeliverHeader(new Lsn(lsn), 1, Lsn.Zero).Write(frame.AsSpan(FrameHeader.Bytes));
        lsn += (ulong)(frame.Length - FrameHeader.Bytes - DeliverHeader.Bytes);
        Run(frame);
    }

    /// <summary>A frame with one run of forks from the caller.</summary>
    public static byte[] RunFrame(byte[] messages, uint count)
    {
        var header = new RunHeader(MessageKind.Fork, false, 0, 1, 1, count, 0, 0);
        byte[] record = new byte[RecordHeader.Bytes + RunHeader.Bytes + messages.Length];
        new RecordHeader((uint)(RunHeader.Bytes + messages.Length), RecordKind.Run).Write(record);
        header.Write(record.AsSpan(RecordHeader.Bytes));
        messages.CopyTo(record, RecordHeader.Bytes + RunHeader.Bytes);
        return DeliverFrame(record);
    }

    private static byte[] DeliverFrame(ReadOnlySpan<byte> records)
    {
        byte[] frame = new byte[FrameHeader.Bytes + DeliverHeader.Bytes + records.Length];
        new FrameHeader((uint)(frame.Length - FrameHeader.Bytes), FrameType.Deliver, 0).Write(frame, 0);
        records.CopyTo(frame.AsSpan(FrameHeader.Bytes + DeliverHeader.Bytes));
        return frame;
    }

    /// <summary>Feeds a frame and throws the output away.</summary>
    private void Run(ReadOnlyMemory<byte> frame)
    {
        if (session.Feed(frame) != frame.Length || session.End is not null) throw new InvalidOperationException($"the session took a part only: {session.End?.Why}");
        session.InputDry();
        while (session.TryTakeOutput(out ReadOnlyMemory<byte> bytes)) session.OutputTaken(bytes.Length);
    }
}
