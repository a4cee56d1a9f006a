using Ambrosia.Coordinator.Outboxes;
using Ambrosia.Log.Files;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Runs;
using Ambrosia.TestKit;

namespace Ambrosia.Coordinator.Tests;

/// <summary>One outbox with its pool and scratch file, fed as the app's reader feeds it: runs side by side in blocks.</summary>
internal sealed class OutboxBench : IDisposable
{
    public static readonly InstanceId Peer = new("peer");
    private BlockPool.Block? _block;
    private int _fill;

    /// <param name="blocksMax">Blocks in memory before runs go to the scratch file; -1: always.</param>
    public OutboxBench(int blocksMax = 1000, IFileSystem? files = null)
    {
        if (files is null)
        {
            files = new SimulatedFileSystem();
            files.CreateDirectory("/s");
        }
        Scratch = new ScratchFile(files, "/s/scratch", 1 << 30);
        Set = new OutboxSet(new InstanceId("self"), Scratch, new MemoryBudget(Pool, blocksMax), new FakeTime());
        Outbox = Set.GetOrAdd(Peer);
    }

    public BlockPool Pool { get; } = new();

    public ScratchFile Scratch { get; }

    public OutboxSet Set { get; }

    public Outbox Outbox { get; }

    public bool Append(byte[] run, Outbox? to = null)
    {
        int at = Place(run);
        return (to ?? Outbox).Append(_block!, at, RunView.Read(_block!.Bytes.AsSpan(at + FrameHeader.Bytes, run.Length)), run.Length);
    }

    public void AppendAll(IEnumerable<byte[]> runs, Outbox? to = null)
    {
        foreach (byte[] run in runs) Append(run, to);
    }

    public ulong AppendImpulses(ulong ticket, Epoch epoch, params byte[][] messages)
    {
        byte[] run = Made.Run(MessageKind.Impulse, ticket, 0, messages);
        int at = Place(run);
        return Outbox.AppendImpulses(_block!, at, RunView.Read(_block!.Bytes.AsSpan(at + FrameHeader.Bytes, run.Length)), run.Length, epoch);
    }

    private int Place(byte[] run)
    {
        int size = FrameHeader.Bytes + run.Length;
        if (_block is null || _fill + size > _block.Bytes.Length)
        {
            _block?.Release();
            _block = Pool.Take(Math.Max(size, BlockPool.BlockBytes));
            _fill = 0;
        }
        run.CopyTo(_block.Bytes.AsSpan(_fill + FrameHeader.Bytes));
        _fill += size;
        return _fill - size;
    }

    /// <summary>The reader goes on to another block: what is left out belongs to the outbox.</summary>
    public void LeaveBlock()
    {
        _block?.Release();
        _block = null;
    }

    /// <summary>Everything was trimmed, and nobody holds any of it.</summary>
    public void AssertNothingKept() => Assert.Equal((0, 0L), (Pool.Outstanding, Scratch.LiveBytes));

    public void Dispose()
    {
        LeaveBlock();
        Scratch.Dispose();
    }
}
