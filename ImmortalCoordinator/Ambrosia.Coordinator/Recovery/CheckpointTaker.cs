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
    /// <summary>Memory of the queue; one chunk more is with the writer.</summary>
    private const int QueueBytesMax = 8 << 20;

    /// <summary>Chunks above this size take a buffer of the largest size, which is used again: an image of gigabytes leaves no garbage.</summary>
    private const int OwnArrayBytesMax = 16 << 10;

    private abstract record Work
    {
        public sealed record Start(CheckpointJob Job) : Work;
        public sealed record Chunk(byte[] Buffer, int Length) : Work;
        public sealed record End(ImageEnd Claim) : Work;
        public sealed record Abandon : Work;
        public sealed record Adopt(CheckpointFileName Name) : Work;
    }

    private readonly Lock gate = new();
    private readonly Queue<Work> queue = new();

    /// <summary>Buffers not in use, each of the largest chunk's size; as many as the queue can hold, at most.</summary>
    private readonly Stack<byte[]> spare = new();
    private long queuedBytes;
    private bool receiving, discarding, truncationDue;

    // of the stepping thread; there is a writer while the job is ours, from its first step to its name
    private CheckpointWriter? writer;
    private CheckpointJob? job;
    private ulong length, hash, partHash;
    private bool finished;

    private readonly Lock naming = new();
    private bool isForbidden; // guarded by naming

    /// <summary>Something is queued or waits for its name.</summary>
    public bool HasWork { get { lock (gate) return queue.Count > 0 || finished || truncationDue; } }

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
        if (discarding)
        {
            parts.Forget(begin);
            return true;
        }
        if (parts.Snapshot(begin, out string why) is { } start) Queue(new Work.Start(start), 0);
        else
        {
            discarding = true;
            parts.Failed(why);
        }
        return true;
    }

    public bool Chunk(ReadOnlySpan<byte> bytes)
    {
        if (!receiving) throw new ProtocolViolation("P5.7", "image chunk out of place");
        ImageChunk.Read(bytes);
        if (discarding) return true;
        if (!HasRoom) return false;
        byte[] buffer = Rent(bytes.Length);
        bytes.CopyTo(buffer);
        Queue(new Work.Chunk(buffer, bytes.Length), buffer.Length);
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

    private byte[] Rent(int bytes)
    {
        if (bytes <= OwnArrayBytesMax) return new byte[bytes];
        lock (gate)
        {
            if (spare.TryPop(out byte[]? buffer)) return buffer;
        }
        return GC.AllocateUninitializedArray<byte>(ImageChunk.BytesMax);
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

    /// <summary>Another replica has published one: what follows from it is done where files are read and removed.</summary>
    public void Adopt(CheckpointFileName name) => Queue(new Work.Adopt(name), 0);

    /// <summary>This replica has diverged: nothing of it gets a name any more. Any thread.</summary>
    public void Forbid()
    {
        lock (naming) isForbidden = true;
    }

    // ---- the thread that writes ----

    /// <summary>What is not wanted any more is to be removed: at the start what a killed process left, later what a reader has released.</summary>
    public void Truncate()
    {
        lock (gate) truncationDue = true;
        parts.WakeWriter();
    }

    /// <summary>Does one piece of work; false: there is none now.</summary>
    public bool Step()
    {
        if (TakeTruncation())
        {
            parts.Truncate(null);
            return true;
        }
        if (finished) return TryPublish();
        Work? work;
        lock (gate)
        {
            if (!queue.TryDequeue(out work)) return false;
            if (work is Work.Chunk chunk) queuedBytes -= chunk.Buffer.Length;
        }
        Do(work);
        parts.WakeReader();
        return true;
    }

    private bool TakeTruncation()
    {
        lock (gate)
        {
            bool due = truncationDue;
            truncationDue = false;
            return due;
        }
    }

    private void Do(Work work)
    {
        switch (work)
        {
            case Work.Start start: Start(start.Job); break;
            case Work.Chunk chunk: WriteChunk(chunk); break;
            case Work.End end: Finish(end.Claim); break;
            case Work.Abandon: Drop("the app went away in the middle of it"); break;
            case Work.Adopt adopt: parts.Published(adopt.Name); break;
        }
    }

    /// <summary>Does something to the file, if there is to be one. A full disk costs this checkpoint and nothing else (log-format L8.4): nobody has seen its file.</summary>
    private void Try(Action write)
    {
        if (!job!.IsOurs) return;
        try
        {
            write();
        }
        catch (IOException e) when (NoSpace.Is(e))
        {
            Drop($"the disk is full: {e.Message}");
        }
    }

    private void WriteChunk(Work.Chunk chunk)
    {
        length += (ulong)chunk.Length;
        hash = ChannelHash.Append(hash, chunk.Buffer.AsSpan(0, chunk.Length));
        Try(() => writer!.Write(CheckpointSection.Image, chunk.Buffer.AsSpan(0, chunk.Length)));
        if (chunk.Buffer.Length < ImageChunk.BytesMax) return;
        lock (gate) spare.Push(chunk.Buffer);
    }

    private void Start(CheckpointJob started)
    {
        job = started;
        length = hash = 0;
        byte[] part = started.Part.ToBytes();
        partHash = ChannelHash.Append(0, part);
        Try(() => writer = parts.NewWriter(started.Header));
        Try(() => writer!.Write(CheckpointSection.Coordinator, part));
        foreach ((Outbox outbox, CheckpointOutput output, List<OutboxEntry> entries) in started.Outboxes)
        {
            foreach (OutboxEntry entry in entries)
            {
                Try(() => OutboxRuns.Write(writer!, outbox, output, entry));
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
        parts.Computed(job!.Header.Lsn, new StateDigest(partHash, hash));
        try
        {
            Try(() =>
            {
                writer!.Finish();
                finished = true;
            });
        }
        catch (FileNotFoundException)
        {
            Drop("a new primary has removed the unfinished file");
        }
    }

    /// <summary>L6.7: the name comes when a page on disk states that the place is durable.</summary>
    private bool TryPublish()
    {
        Lsn stated = parts.StatedDurable();
        if (stated < job!.Header.Lsn) return false;
        finished = false;
        bool isPublished;
        lock (naming) isPublished = !isForbidden && writer!.Publish(stated);
        if (isPublished) Published(job.Header);
        else parts.Failed("there is one of the same name");
        writer!.Dispose();
        writer = null;
        return true;
    }

    private void Published(CheckpointHeader header)
    {
        parts.Published(header.FileName);
        parts.Truncate(header);
    }

    /// <summary>It came to nothing: what still comes of its image is only compared.</summary>
    private void Drop(string why)
    {
        if (!job!.IsOurs) return;
        job = job with { IsOurs = false };
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
/// <param name="IsOurs">Its mark names this replica; otherwise it is made for comparison only.</param>
internal sealed record CheckpointJob(CheckpointHeader Header, CoordinatorPart Part, List<(Outbox, CheckpointOutput, List<OutboxEntry>)> Outboxes, bool IsOurs);

/// <summary>What taking a checkpoint needs from the rest.</summary>
/// <param name="Truncate">Removes what is not wanted any more; with the header of a checkpoint that was published just now, if one was.</param>
internal sealed record CheckpointParts(
    TakeSnapshot Snapshot, Action<ImageBegin> Forget, Func<CheckpointHeader, CheckpointWriter> NewWriter, Func<Lsn> StatedDurable,
    Action<CheckpointFileName> Published, Action<CheckpointHeader?> Truncate, Action<string> Failed, Action<Lsn, StateDigest> Computed, Action WakeWriter, Action WakeReader);

/// <summary>What a checkpoint at this place holds of the coordinator; null: <paramref name="why"/> there is none now.</summary>
internal delegate CheckpointJob? TakeSnapshot(ImageBegin begin, out string why);
