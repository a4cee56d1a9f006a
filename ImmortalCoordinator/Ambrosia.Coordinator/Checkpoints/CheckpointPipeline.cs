using Ambrosia.Coordinator.Outboxes;
using Ambrosia.Coordinator.Replay;
using Ambrosia.Log.Checkpoints;
using Ambrosia.Log.Files;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Checkpoints;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Records;

namespace Ambrosia.Coordinator.Checkpoints;

/// <summary>
/// Leads a checkpoint from the app to the disk. The thread that reads the app notes the coordinator's part at the exact place in the app's
/// stream and queues the image; the thread that steps has it written and given its name. The queue is bounded; a full one makes the app's
/// stream wait.
/// </summary>
/// <param name="wakeWriter">There is something to step for.</param>
/// <param name="wakeApp">The app's stream may find room now.</param>
internal sealed class CheckpointPipeline(
    ICheckpointSource source, ICheckpointOutcome outcome, CheckpointJobWriter writer, Action wakeWriter, Action wakeApp) : IDisposable
{
    private readonly ImageQueue _queue = new();

    /// <summary>An image is coming in, and it is let go. The thread that reads the app.</summary>
    private bool _isReceiving, _isDiscarding;

    /// <summary>1: what is not wanted any more is to be removed.</summary>
    private int _truncationDue;

    /// <summary>Something is queued or waits for its name.</summary>
    public bool HasWork => Volatile.Read(ref _truncationDue) != 0 || writer.IsFinished || _queue.HasAny;

    /// <summary>A checkpoint has all but its name, which it gets when its state is confirmed. The thread that writes.</summary>
    public bool AwaitsConfirmation => writer.IsFinished && writer.IsUnconfirmed;

    // ---- the app's stream ----

    /// <summary>The app stands at the checkpoint's place. False: no room, again later.</summary>
    /// <param name="isWanted">False while the app replays: what it emits is behind what was trimmed already, so the
    /// image is let go.</param>
    public bool Begin(ImageBegin begin, bool isWanted, Action<Lsn> reportProgress)
    {
        if (!_queue.HasRoom) return false;
        reportProgress(begin.Position);
        if (_isReceiving) throw new ProtocolViolation("P5.7", "an image begins inside another");
        _isReceiving = true;
        _isDiscarding = !isWanted;
        if (_isDiscarding)
        {
            source.Forget(begin);
            return true;
        }
        if (source.Take(begin, out string why) is { } start) Queue(new CheckpointStep.Start(start));
        else
        {
            _isDiscarding = true;
            outcome.Failed(why);
        }
        return true;
    }

    public bool Chunk(ReadOnlySpan<byte> bytes)
    {
        if (!_isReceiving) throw new ProtocolViolation("P5.7", "image chunk out of place");
        ImageChunk.Read(bytes);
        if (_isDiscarding) return true;
        if (!_queue.TryAdd(bytes)) return false;
        wakeWriter();
        return true;
    }

    public bool End(ImageEnd end)
    {
        if (!_isReceiving) throw new ProtocolViolation("P5.7", "image end out of place");
        _isReceiving = false;
        if (!_isDiscarding) Queue(new CheckpointStep.End(end));
        return true;
    }

    /// <summary>The session ended: an unfinished image is of no use.</summary>
    public void SessionEnded()
    {
        if (!_isReceiving) return;
        _isReceiving = false;
        if (!_isDiscarding) Queue(new CheckpointStep.Abandon());
    }

    private void Queue(CheckpointStep work)
    {
        _queue.Add(work);
        wakeWriter();
    }

    /// <summary>Another replica has published one: what follows from it is done where files are read and removed. Any thread.</summary>
    public void Adopt(CheckpointFileName name) => Queue(new CheckpointStep.Adopt(name));

    /// <summary>This replica has diverged: nothing of it gets a name any more. Any thread.</summary>
    public void Forbid() => writer.Forbid();

    // ---- the thread that writes ----

    /// <summary>
    /// What is not wanted any more is to be removed: at the start what a killed process left, later what a reader has released. Any thread.
    /// </summary>
    public void Truncate()
    {
        Volatile.Write(ref _truncationDue, 1);
        wakeWriter();
    }

    /// <summary>Does one piece of work; false: there is none now.</summary>
    /// <exception cref="IOException">The system refuses it. What can be done later is still to be done.</exception>
    public bool Step()
    {
        if (Interlocked.Exchange(ref _truncationDue, 0) != 0)
        {
            OrLater(() => outcome.Truncate(null), () => Volatile.Write(ref _truncationDue, 1));
            return true;
        }
        if (writer.IsFinished)
        {
            if (writer.TryPublish()) return true;
            if (!AwaitsConfirmation || !_queue.HasAny) return false;
            writer.Drop("nothing has confirmed what a replay computed, before the next one came");
        }
        if (_queue.Take() is not { } work) return false;
        Do(work);
        wakeApp();
        return true;
    }

    private void Do(CheckpointStep work)
    {
        switch (work)
        {
            case CheckpointStep.Start start: writer.Start(start.Job); break;
            case CheckpointStep.Stretch stretch:
                writer.Write(stretch);
                _queue.Return(stretch);
                break;
            case CheckpointStep.End end: writer.Finish(end.Claim); break;
            case CheckpointStep.Abandon: writer.Drop("the app went away in the middle of it"); break;
            case CheckpointStep.Adopt adopt: Do(adopt); break;
        }
    }

    private void Do(CheckpointStep.Adopt adopt) => OrLater(
        () =>
        {
            if (outcome.Published(adopt.Name)) Truncate();
        },
        () => _queue.Add(adopt));

    /// <summary>Without it the primary would wait for its checkpoint for ever, or keep what is superfluous.</summary>
    private static void OrLater(Action what, Action later)
    {
        try
        {
            what();
        }
        catch (IOException refused) when (IFileSystem.IsNotNow(refused))
        {
            later();
            throw;
        }
    }

    public void Dispose() => writer.Dispose();
}

/// <summary>Holds what is known of one checkpoint before its image comes.</summary>
/// <param name="IsOurs">Its mark names this replica; otherwise it is made for comparison only.</param>
internal sealed record CheckpointJob(
    CheckpointHeader Header, CoordinatorPart Part, List<(Outbox, CheckpointOutput, List<OutboxEntry>)> Outboxes, bool IsOurs)
{
    /// <summary>It hears what becomes of this one; null: whoever hears of all.</summary>
    public ICheckpointOutcome? Outcome { get; init; }

    /// <summary>Says whether the state is confirmed, without which its file gets no name; null: it needs nothing. Any thread.</summary>
    public Func<bool>? MayBeNamed { get; init; }
}

/// <summary>Asks for the checkpoint of a version that is not in force yet, and hears what becomes of it.</summary>
internal interface IVersionCheckpoint : ICheckpointOutcome
{
    /// <summary>Returns what is known where it was asked for; null: a mark asked for this image. The thread that reads the app.</summary>
    VersionPlace? TakeFor(Lsn position);
}

/// <summary>Holds the place of a checkpoint of another version than the log's.</summary>
/// <param name="Version">The version of the checkpoint.</param>
/// <param name="At">The fold of the log right there, as a mark would have it.</param>
/// <param name="Build">The build that goes on with it; null: it states none.</param>
internal sealed record VersionPlace(uint Version, MarkSnapshot At, BuildId? Build);

/// <summary>Tells what a checkpoint holds of the coordinator. The thread that reads the app.</summary>
internal interface ICheckpointSource
{
    /// <summary>Returns what a checkpoint at this place holds of the coordinator; null: <paramref name="why"/> there is none now.</summary>
    CheckpointJob? Take(ImageBegin begin, out string why);

    /// <summary>An image that nobody wants: its mark is done with all the same.</summary>
    void Forget(ImageBegin begin);
}
