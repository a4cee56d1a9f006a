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

    private static byte[] Call(uint method, object[] arguments)
    {
        var message = new ArrayBufferWriter<byte>();
        var writer = new CborWriter(message);
        foreach (object argument in arguments)
        {
            if (argument is string text) writer.WriteString(text);
            else writer.WriteInt64((int)argument);
        }
        writer.Flush();
        byte[] run = new byte[RunHeader.Bytes + 3 + message.WrittenCount];
        new RunHeader(MessageKind.Call, false, 0, 0, 1, 1, 0, 0).Write(run);
        run[RunHeader.Bytes] = (byte)(2 + message.WrittenCount);
        run[RunHeader.Bytes + 1] = (byte)method;
        run[RunHeader.Bytes + 2] = 1;
        message.WrittenSpan.CopyTo(run.AsSpan(RunHeader.Bytes + 3));
        byte[] record = new byte[RecordHeader.Bytes + run.Length];
        new RecordHeader((uint)run.Length, RecordKind.Run).Write(record);
        run.CopyTo(record, RecordHeader.Bytes);
        return record;
    }

    private static string Answer(ImmortalSession session)
    {
        var output = new ArrayBufferWriter<byte>();
        while (session.TryTakeOutput(out ReadOnlyMemory<byte> bytes))
        {
            output.Write(bytes.Span);
            session.OutputTaken(bytes.Length);
        }
        ReadOnlySpan<byte> left = output.WrittenSpan;
        while (FrameReader.TryRead(left, 0, 1_000_000, false, out FrameHeader header, out ReadOnlySpan<byte> payload,
            out int size) == DecodeStatus.Ok)
        {
            left = left[size..];
            if (header.Type != FrameType.Run) continue;
            var messages = new MessageReader(RunView.Read(payload));
            Assert.True(messages.Next());
            var reader = new CborReader(messages.Arguments);
            return reader.ReadString();
        }
        throw new InvalidOperationException($"No answer; the session is {session.State}: {session.End}");
    }
}
