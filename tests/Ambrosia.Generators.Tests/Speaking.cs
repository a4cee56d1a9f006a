using System.Buffers;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Payloads;
using Ambrosia.Protocol.Records;
using Ambrosia.Protocol.Runs;

namespace Ambrosia.Generators.Tests;

/// <summary>Makes one call to a freshly started immortal and gets its answer.</summary>
internal static class Speaking
{
    internal static string Ask(ImmortalDefinition definition, uint method, params object[] arguments)
    {
        var session = new ImmortalSession(definition, new SessionOptions { Token = new byte[32] });
        var input = new ArrayBufferWriter<byte>();
        FrameWriter.Write(input,
            new AppWelcome(1, new InstanceId("demo"), "r0", Guid.NewGuid(), new Epoch(1), 1, 1_000_000, new Lsn(64), false), 0, false);
        var records = new ArrayBufferWriter<byte>();
        new DeliverHeader(new Lsn(64), 0, Lsn.Zero).Write(records.GetSpan(DeliverHeader.Bytes));
        records.Advance(DeliverHeader.Bytes);
        records.Write(RecordKinds.EncodeWhole(new FirstStartRecord(Guid.NewGuid(), 1, 1, "demo")));
        records.Write(Call(method, arguments));
        FrameWriter.Write(input, FrameType.Deliver, records.WrittenSpan, 0, false);
        session.Feed(input.WrittenMemory);
        session.InputDry();
        return Answer(session);
    }

    /// <summary>
    /// Lets an immortal execute forks, takes its image behind them, and asks it twice: as it goes on, and as another process that was
    /// restored from the image. A third process executes the forks anew.
    /// </summary>
    internal static (string Live, string Restored, string Replayed) AskAfter(ImmortalDefinition definition, uint[] forks, uint question)
    {
        byte[][] records = [RecordKinds.EncodeWhole(new FirstStartRecord(Guid.Empty, 1, 1, "demo")), .. forks.Select(static fork => Run(
            MessageKind.Fork, fork, []))];
        byte[] mark = RecordKinds.EncodeWhole(new CheckpointMarkRecord(new Epoch(1), 0, "r0"));
        ulong at = 64 + (ulong)records.Append(mark).Sum(static each => each.Length);

        (ImmortalSession live, _) = Begin(definition, null, 64);
        Deliver(live, 64, [.. records, mark]);
        byte[] image = ImageOf(live);
        Deliver(live, at, [Call(question, [])]);
        (ImmortalSession restored, _) = Begin(definition, image, at);
        Deliver(restored, at, [Call(question, [])]);
        (ImmortalSession replayed, _) = Begin(definition, null, 64);
        Deliver(replayed, 64, [.. records, mark, Call(question, [])]);
        return (Answer(live), Answer(restored), Answer(replayed));
    }

    private static (ImmortalSession Session, ulong At) Begin(ImmortalDefinition definition, byte[]? image, ulong at)
    {
        var session = new ImmortalSession(definition, new SessionOptions { Token = new byte[32] });
        var input = new ArrayBufferWriter<byte>();
        FrameWriter.Write(input,
            new AppWelcome(1, new InstanceId("demo"), "r0", Guid.Empty, new Epoch(1), 1, 1_000_000, new Lsn(at), image is not null), 0,
                false);
        if (image is not null)
        {
            FrameWriter.Write(input, new ImageBegin(new Lsn(at), 1), 0, false);
            foreach (byte[] chunk in image.Chunk(10_000)) FrameWriter.Write(input, FrameType.ImageChunk, chunk, 0, false);
            FrameWriter.Write(input, new ImageEnd((ulong)image.Length, Protocol.Hashing.ChannelHash.Append(0, image)), 0, false);
        }
        session.Feed(input.WrittenMemory);
        return (session, at);
    }

    private static void Deliver(ImmortalSession session, ulong at, byte[][] records)
    {
        var payload = new ArrayBufferWriter<byte>();
        new DeliverHeader(new Lsn(at), 0, Lsn.Zero).Write(payload.GetSpan(DeliverHeader.Bytes));
        payload.Advance(DeliverHeader.Bytes);
        foreach (byte[] record in records) payload.Write(record);
        var input = new ArrayBufferWriter<byte>();
        FrameWriter.Write(input, FrameType.Deliver, payload.WrittenSpan, 0, false);
        session.Feed(input.WrittenMemory);
        session.InputDry();
    }

    private static byte[] ImageOf(ImmortalSession session)
    {
        var image = new ArrayBufferWriter<byte>();
        string why = "";
        foreach ((FrameType type, byte[] payload) in Frames(session))
        {
            if (type == FrameType.ImageChunk) image.Write(ImageChunk.Read(payload));
            if (type == FrameType.Waiting) why = Waiting.Read(payload).Why;
        }
        Assert.True(image.WrittenCount > 0, $"There is no image; the session is {session.State}: {session.End}{why}");
        return image.WrittenSpan.ToArray();
    }

    private static byte[] Call(uint method, object[] arguments) => Run(MessageKind.Call, method, arguments);

    private static byte[] Run(MessageKind kind, uint method, object[] arguments)
    {
        bool isCall = kind == MessageKind.Call;
        var message = new ArrayBufferWriter<byte>();
        var writer = new CborWriter(message);
        foreach (object argument in arguments)
        {
            if (argument is string text) writer.WriteString(text);
            else writer.WriteInt64((int)argument);
        }
        writer.Flush();
        int head = isCall ? 2 : 1;
        byte[] run = new byte[RunHeader.Bytes + 1 + head + message.WrittenCount];
        new RunHeader(kind, false, 0, 0, 1, 1, 0, 0).Write(run);
        run[RunHeader.Bytes] = (byte)(head + message.WrittenCount);
        run[RunHeader.Bytes + 1] = (byte)method;
        if (isCall) run[RunHeader.Bytes + 2] = 1;
        message.WrittenSpan.CopyTo(run.AsSpan(RunHeader.Bytes + 1 + head));
        byte[] record = new byte[RecordHeader.Bytes + run.Length];
        new RecordHeader((uint)run.Length, RecordKind.Run).Write(record);
        run.CopyTo(record, RecordHeader.Bytes);
        return record;
    }

    private static string Answer(ImmortalSession session)
    {
        foreach ((FrameType type, byte[] payload) in Frames(session))
        {
            if (type != FrameType.Run) continue;
            var messages = new MessageReader(RunView.Read(payload));
            if (!messages.Next() || messages.Arguments.IsEmpty) continue;
            var reader = new CborReader(messages.Arguments);
            return reader.ReadString();
        }
        throw new InvalidOperationException($"No answer; the session is {session.State}: {session.End}");
    }

    private static List<(FrameType Type, byte[] Payload)> Frames(ImmortalSession session)
    {
        var output = new ArrayBufferWriter<byte>();
        while (session.TryTakeOutput(out ReadOnlyMemory<byte> bytes))
        {
            output.Write(bytes.Span);
            session.OutputTaken(bytes.Length);
        }
        List<(FrameType, byte[])> frames = [];
        ReadOnlySpan<byte> left = output.WrittenSpan;
        while (FrameReader.TryRead(left, 0, 1_000_000, false, out FrameHeader header, out ReadOnlySpan<byte> payload,
            out int size) == DecodeStatus.Ok)
        {
            left = left[size..];
            frames.Add((header.Type, payload.ToArray()));
        }
        return frames;
    }
}
