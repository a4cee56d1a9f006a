using System.Buffers.Binary;
using Ambrosia.Coordinator.Replica;
using Ambrosia.Images.Masking;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Payloads;
using Ambrosia.Protocol.Records;
using Ambrosia.Protocol.Runs;

namespace Ambrosia.Inspection.Masking;

/// <summary>
/// Masks the records of a log, each in the bytes that it has. What says something of masked content by its hash says nothing afterwards:
/// hashes of runs and digests are 0, and a digest is one of position 0, which nobody compares. One thread.
/// </summary>
internal sealed class RecordMasking(MessageMasking messages, ValueMasker masker)
{
    /// <summary>The place of the hash in the header of a run.</summary>
    private const int RunHashAt = 24;

    /// <summary>The bytes with which a task's result begins: its number and its status.</summary>
    private const int TaskBytes = sizeof(ulong);

    /// <summary>Masks the body of a record, or learns what is to be masked in it.</summary>
    /// <exception cref="MisuseException">It cannot be masked.</exception>
    public void Mask(RecordKind kind, Span<byte> body)
    {
        switch (kind)
        {
            case RecordKind.Run or RecordKind.ImpulseRun: Run(body); break;
            case RecordKind.ClientRequest: Request(body); break;
            case RecordKind.NondetResult: TaskResult(body); break;
            case RecordKind.Upgrade: throw new MisuseException("the stretch holds a change of the app's version",
                "its record states the hash of the state that the new version has made, and a masked one has another",
                "begin behind it: give a --checkpoint of the new version");
            case RecordKind.Digest when !masker.IsLearning: Digest(body); break;
            case RecordKind.StateHash when !masker.IsLearning: body.Clear(); break;
        }
    }

    private void Run(Span<byte> body)
    {
        RunView run = RunView.Read(body);
        if (!masker.IsLearning && run.Header.IsNumbered) BinaryPrimitives.WriteUInt64LittleEndian(body[RunHashAt..], 0);
        if (!masker.IsLearning) BlankStacks(body.Slice(RunHeader.Bytes, run.Extensions.Length));
        Messages(body[(RunHeader.Bytes + run.Extensions.Length)..], run.Header.Kind, run.Header.Keyed);
    }

    private void Messages(Span<byte> bytes, MessageKind kind, bool isKeyed)
    {
        var message = new MessageReader(bytes, kind, isKeyed);
        while (message.Next())
        {
            Span<byte> content = Same(bytes, message.Arguments);
            if (kind is MessageKind.Result or MessageKind.Failure) messages.Answer(message.Method, kind == MessageKind.Failure, content);
            else messages.Arguments(message.Method, content);
            if (!isKeyed) continue;
            if (masker.IsLearning) messages.Learn(message.Method, message.Key, content);
            messages.Key(Same(bytes, message.Key));
        }
    }

    private void Request(Span<byte> body)
    {
        ClientRequestView request = ClientRequestView.Read(body);
        Messages(Same(body, request.Message), MessageKind.ClientRequest, request.Keyed);
    }

    private void TaskResult(Span<byte> body)
    {
        Span<byte> result = body[(TaskBytes + 1)..];
        if (body[TaskBytes] != 0) messages.Failure(result);
        else messages.Value(masker.Rules.Of("", MaskRules.Task), result);
    }

    /// <summary>No execution depends on a stack, and what the runtime said of a failure stands in front of it.</summary>
    public static void BlankStacks(Span<byte> blocks)
    {
        var block = new ExtensionReader(blocks);
        while (block.Next())
        {
            if (block.Type != ExtensionType.FailureStack) continue;
            Span<byte> content = Same(blocks, block.Content);
            var from = PayloadReader.OfFrame(content, "P3.7");
            from.Varint();
            from.Varint(); // the length of the stack
            content[^from.Left..].Fill((byte)' ');
        }
    }

    private static void Digest(Span<byte> body)
    {
        var from = PayloadReader.OfFile(body, "L5.10");
        from.U64();
        body[..sizeof(ulong)].Clear();
        for (ulong left = from.Varint(); left > 0; left--)
        {
            from.U16();
            from.Name();
            from.U64();
            ClearNext(body, ref from);
        }
        if (from.Left == 0) return;
        from.U64();
        ClearNext(body, ref from);
    }

    private static void ClearNext(Span<byte> body, ref PayloadReader from)
    {
        body.Slice(body.Length - from.Left, sizeof(ulong)).Clear();
        from.U64();
    }

    /// <summary>Returns a stretch of these bytes as one that can be overwritten.</summary>
    private static Span<byte> Same(Span<byte> bytes, ReadOnlySpan<byte> part) =>
        part.IsEmpty || !bytes.Overlaps(part, out int at) ? [] : bytes.Slice(at, part.Length);
}
