using Ambrosia.Log;
using Ambrosia.Protocol;

namespace Ambrosia.Coordinator;

/// <summary>
/// A checkpoint on its way from the app to the disk. The thread that reads the app notes the coordinator's part at the exact place in
/// the app's stream and queues the image; whoever steps writes it, verifies it, and gives it its name once the log states that its
/// place is durable. Owns the file under way. The queue is bounded; a full one makes the app's stream wait.
/// </summary>
internal sealed class CheckpointTaker(CheckpointParts parts) : IDisposable
{
    private const int QueueBytesMax = 8 << 20;

    private abstract record Work
    {
        public sealed record Start(CheckpointJob Job) : Work;
        public sealed record Chunk(byte[] Bytes) : Work;
        public sealed record End(ImageEnd Claim) : Work;
        public sealed record Abandon : Work;
    }

    private readonly Lock gate = new();
    private readonly Queue<Work> queue = new();
    private long queuedBytes;
    private bool receiving, discarding;

    // of the stepping thread
    private CheckpointWriter? writer;
    private CheckpointJob? job;
    private ulong length, hash;
    private bool finished;

    /// <summary>Something is queued or waits for its name.</summary>
    public bool HasWork { get { lock (gate) return queue.Count > 0 || finished; } }

    public bool HasRoom { get { lock (gate) return queuedBytes < QueueBytesMax; } }

    // ---- the app's stream ----

    /// <summary>The app stands at the checkpoint's place. False: no room, again later.</summary>
    /// <param name="isWanted">False while the app replays: what it emits is behind what was trimmed already, so the image is let go.</param>
    public bool Begin(ImageBegin begin, bool isWanted, Action<Lsn> reportProgress)
    {
        if (!HasRoom) return false;
        reportProgress(begin.Position);
        if (receiving) throw new ProtocolViolation("P5.7", "an image begins inside another");
        receiving = true;
        discarding = !isWanted;
        if (discarding) return true;
        Queue(new Work.Start(parts.Snapshot(begin)), 0);
        return true;
    }

    public bool Chunk(ReadOnlySpan<byte> bytes)
    {
        if (!receiving || bytes.IsEmpty) throw new ProtocolViolation("P5.7", "image chunk out of place");
        if (discarding) return true;
        if (!HasRoom) return false;
        Queue(new Work.Chunk(bytes.ToArray()), bytes.Length);
        return true;
    }

    public bool End(ImageEnd end)
    {
        if (!receiving) throw new ProtocolViolation("P5.7", "image end out of place");
        receiving = false;
        if (!discarding) Queue(new Work.End(end), 0);
        return true;
    }

    /// <summary>The session ended: an unfinished image is of no use.</summary>
    public void SessionEnded()
    {
        if (!receiving) return;
        receiving = false;
        if (!discarding) Queue(new Work.Abandon(), 0);
    }

    private void Queue(Work work, int bytes)
    {
        lock (gate)
        {
            queue.Enqueue(work);
            queuedBytes += bytes;
        }
        parts.WakeWriter();
    }

    // ---- the thread that writes ----

    /// <summary>Does one piece of work; false: there is none now.</summary>
    public bool Step()
    {
        if (finished) return TryPublish();
        Work? work;
        lock (gate)
        {
            if (!queue.TryDequeue(out work)) return false;
            if (work is Work.Chunk chunk) queuedBytes -= chunk.Bytes.Length;
        }
        Do(work);
        parts.WakeReader();
        return true;
    }

    private void Do(Work work)
    {
        switch (work)
        {
            case Work.Start start: Start(start.Job); break;
            case Work.Chunk chunk:
                length += (ulong)chunk.Bytes.Length;
                hash = ChannelHash.Append(hash, chunk.Bytes);
                writer!.Write(CheckpointSection.Image, chunk.Bytes);
                break;
            case Work.End end: Finish(end.Claim); break;
            case Work.Abandon: Drop("the app went away in the middle of it"); break;
        }
    }

    private void Start(CheckpointJob started)
    {
        job = started;
        length = hash = 0;
        writer = parts.NewWriter(started.Header);
        writer.Write(CheckpointSection.Coordinator, started.Part.ToBytes());
        foreach ((Outbox outbox, CheckpointOutput output, List<OutboxEntry> entries) in started.Outboxes)
        {
            foreach (OutboxEntry entry in entries)
            {
                OutboxRuns.Write(writer, outbox, output, entry);
                outbox.Let(entry);
            }
            entries.Clear();
        }
    }

    private void Finish(ImageEnd claim)
    {
        if (claim.Length != length || claim.Hash != hash)
        {
            Drop($"its image has {length} bytes with hash {hash:x16}, the app says {claim.Length} with {claim.Hash:x16}");
            return;
        }
        writer!.Finish();
        finished = true;
    }

    /// <summary>L6.7: the name comes when a page on disk states that the place is durable.</summary>
    private bool TryPublish()
    {
        Lsn stated = parts.StatedDurable();
        if (stated < job!.Header.Lsn) return false;
        finished = false;
        if (writer!.Publish(stated)) parts.Published(job.Header.FileName);
        else parts.Failed("there is one of the same name");
        writer.Dispose();
        writer = null;
        return true;
    }

    private void Drop(string why)
    {
        writer?.Abandon();
        writer?.Dispose();
        writer = null;
        parts.Failed(why);
    }

    public void Dispose()
    {
        writer?.Abandon();
        writer?.Dispose();
    }
}

/// <summary>One checkpoint: what is known of it before its image comes.</summary>
internal sealed record CheckpointJob(CheckpointHeader Header, CoordinatorPart Part, List<(Outbox, CheckpointOutput, List<OutboxEntry>)> Outboxes);

/// <summary>What taking a checkpoint needs from the rest.</summary>
internal sealed record CheckpointParts(
    Func<ImageBegin, CheckpointJob> Snapshot, Func<CheckpointHeader, CheckpointWriter> NewWriter, Func<Lsn> StatedDurable,
    Action<CheckpointFileName> Published, Action<string> Failed, Action WakeWriter, Action WakeReader);
