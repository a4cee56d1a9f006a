using System.Buffers.Binary;
using System.Text;
using Ambrosia.Coordinator.Outboxes;
using Ambrosia.Log.Checkpoints;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Checkpoints;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Payloads;
using Ambrosia.Protocol.Runs;

namespace Ambrosia.Coordinator.Checkpoints;

/// <summary>
/// Writes the untrimmed outputs into a checkpoint (log-format L6.3), cut at exactly the trimmed and the emitted number, and reads them
/// back.
/// </summary>
internal static class OutboxRuns
{
    public static void Write(CheckpointWriter to, Outbox outbox, CheckpointOutput output, in OutboxEntry entry)
    {
        byte[] frame = new byte[entry.FrameBytes];
        outbox.CopyFrame(entry, frame);
        byte[] run = Cut(frame.AsSpan(FrameHeader.Bytes), output);
        byte[] name = Encoding.UTF8.GetBytes(output.Destination.Name);
        Span<byte> front = stackalloc byte[4 + 2 + Varint.BytesMax + Names.CharsMax];
        BinaryPrimitives.WriteUInt32LittleEndian(front, (uint)run.Length);
        BinaryPrimitives.WriteUInt16LittleEndian(front[4..], output.Destination.Shard);
        int size = 6 + Varint.Write(front[6..], (ulong)name.Length);
        name.CopyTo(front[size..]);
        to.Write(CheckpointSection.Outbox, front[..(size + name.Length)]);
        to.Write(CheckpointSection.Outbox, run);
    }

    private static byte[] Cut(ReadOnlySpan<byte> bytes, CheckpointOutput output)
    {
        RunView run = RunView.Read(bytes);
        RunHeader header = run.Header;
        uint before = header.First <= output.TrimmedNumber ? (uint)(output.TrimmedNumber - header.First + 1) : 0;
        uint behind = header.Last > output.Number ? (uint)(header.Last - output.Number) : 0;
        if (before == 0 && behind == 0) return bytes.ToArray();
        int from = MessageScanner.Skip(run.Messages, before);
        int to = MessageScanner.Skip(run.Messages, header.Count - behind);
        var cut = header with
        {
            First = header.First + before,
            Count = header.Count - before - behind,
            Hash = behind == 0 ? header.Hash : output.Hash,
        };
        byte[] result = [.. bytes[..RunHeader.Bytes], .. run.Extensions, .. run.Messages[from..to]];
        cut.Write(result);
        return result;
    }

    /// <summary>Gives every run of the section back to its outbox.</summary>
    public static void Restore(CheckpointReader from, OutboxSet outboxes, BlockPool pool)
    {
        var pending = new List<byte>();
        using var packing = new Packing(pool);
        while (from.Read(out CheckpointSection section, out ReadOnlySpan<byte> content))
        {
            if (section == CheckpointSection.Image) break;
            if (section != CheckpointSection.Outbox) continue;
            pending.AddRange(content);
            int taken = 0;
            ReadOnlySpan<byte> bytes = System.Runtime.InteropServices.CollectionsMarshal.AsSpan(pending);
            while (TryRestoreOne(bytes[taken..], outboxes, packing, out int size)) taken += size;
            pending.RemoveRange(0, taken);
        }
        if (pending.Count > 0)
            throw new ProtocolViolation("L6.3", $"{pending.Count} bytes behind the last run of the checkpoint's outboxes");
    }

    private static bool TryRestoreOne(ReadOnlySpan<byte> bytes, OutboxSet outboxes, Packing packing, out int size)
    {
        size = 0;
        if (bytes.Length < 7) return false;
        uint runBytes = BinaryPrimitives.ReadUInt32LittleEndian(bytes);
        if (Varint.TryRead(bytes[6..], out ulong nameBytes, out int varint) != DecodeStatus.Ok) return false;
        if (nameBytes > Names.CharsMax || runBytes > SizeLimits.MessageBytesMaxLimit + SizeLimits.BatchBytesMax)
            throw new ProtocolViolation("L6.3", "a run with impossible sizes");
        int front = 6 + varint + (int)nameBytes;
        if ((ulong)bytes.Length < (ulong)front + runBytes) return false;
        size = front + (int)runBytes;

        var destination = new InstanceId(Encoding.UTF8.GetString(bytes[(6 + varint)..front]),
            BinaryPrimitives.ReadUInt16LittleEndian(bytes[4..]));
        BlockPool.Block block = packing.Place(FrameHeader.Bytes + (int)runBytes, out int at);
        bytes[front..size].CopyTo(block.Bytes.AsSpan(at + FrameHeader.Bytes));
        outboxes.GetOrAdd(destination).RestoreRun(block, at, bytes[front..size]);
        return true;
    }

    /// <summary>
    /// Puts frames side by side into blocks, as the reader of the app receives them: a block for each would fill the memory with nothing.
    /// </summary>
    private sealed class Packing(BlockPool pool) : IDisposable
    {
        private BlockPool.Block? _block;
        private int _fill;

        public BlockPool.Block Place(int frameBytes, out int at)
        {
            if (_block is null || frameBytes > _block.Bytes.Length - _fill)
            {
                _block?.Release();
                _block = pool.Take(frameBytes);
                _fill = 0;
            }
            at = _fill;
            _fill += frameBytes;
            return _block;
        }

        public void Dispose() => _block?.Release();
    }
}
