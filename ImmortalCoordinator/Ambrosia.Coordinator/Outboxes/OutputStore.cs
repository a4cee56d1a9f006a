using Ambrosia.Coordinator.Replica;
using Ambrosia.Protocol;
using Microsoft.Extensions.Logging;

namespace Ambrosia.Coordinator.Outboxes;

/// <summary>
/// Owns what the app has emitted and its receivers have not acknowledged: the outboxes, the memory and the scratch file behind them, and
/// the question whether the app has to wait for room. The thread that reads the app emits; the rest is for any thread.
/// </summary>
internal sealed class OutputStore : IDisposable
{
    private readonly ScratchFile _scratch;
    private long _emittedBytes; // grows, by the thread that reads the app

    public OutputStore(InstanceId self, CoordinatorInputs inputs)
    {
        CoordinatorOptions options = inputs.Options;
        _scratch = new ScratchFile(inputs.Files, Path.Combine(options.RunDirectory, $"scratch.{options.Replica}"), options.ScratchBytes,
            bytesLeft: 2 * options.Log.SegmentBytes, why => inputs.Pumps.Fail(ExitCodes.Io, why));
        _scratch.RemoveLeftover();
        var memory = new MemoryBudget(Pool, (int)Math.Max(4, options.OutboxBytes / BlockPool.BlockBytes));
        Outboxes = new OutboxSet(self, _scratch, memory, inputs.Time);
        Backpressure = new OutputBackpressure(Outboxes, options.RunDirectory, inputs.Time, inputs.Logger);
    }

    /// <summary>The blocks into which the app's stream is received, and in which runs wait.</summary>
    public BlockPool Pool { get; } = new();

    public OutboxSet Outboxes { get; }

    /// <summary>Notes whether the app waits because its outputs have no room.</summary>
    public OutputBackpressure Backpressure { get; }

    /// <summary>What a replay would make again counts for checkpoints.</summary>
    public EmittedBytes Emitted => new(Volatile.Read(ref _emittedBytes), Outboxes.SpilledBytes);

    /// <summary>The app has emitted a run of so many bytes.</summary>
    public void Add(int bytes) => Volatile.Write(ref _emittedBytes, _emittedBytes + bytes);

    /// <summary>
    /// Returns true where a run of so many bytes has no room. What the app has reported stands behind the run that waits, so room must come
    /// without it: from what peers have acknowledged, and from those who are given up. Where the disk ends, everybody waits.
    /// </summary>
    /// <param name="isLimited">Whether the limit counts: this replica is primary, and peers may be reached.</param>
    /// <param name="isLeaving">Whether a peer is being given up while the app has not come to that place of the log.</param>
    public bool MustWait(Outbox outbox, int runBytes, Func<bool> isLimited, Func<InstanceId, bool> isLeaving)
    {
        // what is for itself waits for its own log
        if (Outboxes.HasMemory || outbox == Outboxes.Self) return Backpressure.Note(false);
        bool limit = isLimited();
        if (Outboxes.HasDiskFor(outbox, runBytes, limit)) return Backpressure.Note(false);
        Outboxes.MakeRoom(isLeaving);
        return Backpressure.Note(!Outboxes.HasMemory && !Outboxes.HasDiskFor(outbox, runBytes, limit));
    }

    public void Dispose() => _scratch.Dispose();
}

/// <summary>
/// Tells the operator that the app waits because its outputs have no room, and that it goes on: each once it has lasted. The thread that
/// reads the app notes it, the one that ticks logs it.
/// </summary>
internal sealed class OutputBackpressure(OutboxSet outboxes, string directory, TimeProvider time, ILogger logger)
{
    /// <summary>Shorter waits are the back-pressure of every day.</summary>
    internal static readonly TimeSpan LastsMin = TimeSpan.FromSeconds(1);

    private volatile bool _isWaiting;
    private TimeSpan? _changed;
    private bool _isLogged;

    /// <summary>The app waits for room at the moment.</summary>
    public bool IsWaiting => _isWaiting;

    /// <summary>Notes whether a run of the app has to wait, and returns it.</summary>
    public bool Note(bool waits)
    {
        if (_isWaiting != waits) _isWaiting = waits;
        return waits;
    }

    public void Tick()
    {
        if (_isWaiting == _isLogged)
        {
            _changed = null;
            return;
        }
        TimeSpan now = time.GetElapsedTime(0);
        _changed ??= now;
        if (now - _changed < LastsMin) return;
        _isLogged = !_isLogged;
        if (_isLogged) LogWait();
        else logger.OutputsResumed();
    }

    private void LogWait()
    {
        OutboxStatus most = outboxes.InOrder().Select(static outbox => outbox.Status).MaxBy(static status => status.KeptBytes);
        long mebibytes = outboxes.SpilledBytes >> 20;
        if (outboxes.IsFull) logger.OutputsWaitByLimit(mebibytes, most.Destination, directory);
        else logger.OutputsWaitForDisk(mebibytes, most.Destination, directory);
    }
}
