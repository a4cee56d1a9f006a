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
    private abstract record Work
    {
        public sealed record Start(CheckpointJob Job) : Work;
        public sealed record End(ImageEnd Claim) : Work;
        public sealed record Abandon : Work;
        public sealed record Adopt(CheckpointFileName Name) : Work;

        /// <summary>A stretch of the image; it grows as long as it waits.</summary>
        public sealed record Stretch(byte[] Buffer) : Work
        {
            public int Length { get; set; }

            public ReadOnlySpan<byte> Bytes => Buffer.AsSpan(0, Length);
        }
    }

    private readonly Lock gate = new();
    private readonly Queue<Work> queue = new();

    private readonly ImageBuffers buffers = new();

    /// <summary>The last in the queue, if it is a stretch.</summary>
    private Work.Stretch? growing;
    private bool receiving, discarding, hasChunks, truncationDue;

    // of the stepping thread; there is a writer while the job is ours, from its first step to its name
    private CheckpointWriter? writer;
    private CheckpointJob? job;
    private ulong length, hash, partHash; // hash: of the image, as long as no writer counts it
    private bool finished;

    private readonly Lock naming = new();
    private bool isForbidden; // guarded by naming

    /// <summary>Something is queued or waits for its name.</summary>
    public bool HasWork { get { lock (gate) return queue.Count > 0 || finished || truncationDue; } }

    public bool HasRoom { get { lock (gate) return buffers.HasRoom; } }

    // ---- the app's stream ----

    /// <summary>The app stands at the checkpoint's place. False: no room, again later.</summary>
    /// <param name="isWanted">False while the app replays: what it emits is behind what was trimmed already, so the
    /// image is let go.</param>
    public bool Begin(ImageBegin begin, bool isWanted, Action<Lsn> reportProgress)
    {
        if (!HasRoom) return false;
        reportProgress(begin.Position);
        if (receiving) throw new ProtocolViolation("P5.7", "an image begins inside another");
        receiving = true;
        discarding = !isWanted;
        hasChunks = false;
        if (discarding)
        {
            parts.Forget(begin);
            return true;
        }
        if (parts.Snapshot(begin, out string why) is { } start) Queue(new Work.Start(start));
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
        if (!TryQueue(bytes)) return false;
        parts.WakeWriter();
        return true;
    }

    public bool End(ImageEnd end)
    {
        if (!receiving) throw new ProtocolViolation("P5.7", "image end out of place");
        receiving = false;
        if (!discarding) Queue(new Work.End(end));
        return true;
    }

    /// <summary>The session ended: an unfinished image is of no use.</summary>
    public void SessionEnded()
    {
        if (!receiving) return;
        receiving = false;
        if (!discarding) Queue(new Work.Abandon());
    }

    /// <summary>All of it, behind what waits already; false: none of it.</summary>
    private bool TryQueue(ReadOnlySpan<byte> bytes)
    {
        lock (gate)
        {
            int room = growing is { } last ? Math.Min(last.Buffer.Length - last.Length, bytes.Length) : 0;
            if (!buffers.HasRoomFor(bytes.Length - room)) return false;
            for (; !bytes.IsEmpty; bytes = bytes[room..])
            {
                if (growing is null || growing.Length == growing.Buffer.Length)
                    queue.Enqueue(growing = new Work.Stretch(buffers.Take(bytes.Length, isFirst: !hasChunks)));
                room = Math.Min(growing.Buffer.Length - growing.Length, bytes.Length);
                Append(growing, bytes[..room]);
                hasChunks = true;
            }
            return true;
        }
    }

    private static void Append(Work.Stretch stretch, ReadOnlySpan<byte> bytes)
    {
        bytes.CopyTo(stretch.Buffer.AsSpan(stretch.Length));
        stretch.Length += bytes.Length;
    }

    private void Queue(Work work)
    {
        lock (gate)
        {
            queue.Enqueue(work);
            growing = null;
        }
        parts.WakeWriter();
    }

    /// <summary>Another replica has published one: what follows from it is done where files are read and removed.</summary>
    public void Adopt(CheckpointFileName name) => Queue(new Work.Adopt(name));

    /// <summary>This replica has diverged: nothing of it gets a name any more. Any thread.</summary>
    public void Forbid()
    {
        lock (naming) isForbidden = true;
    }

    // ---- the thread that writes ----

    /// <summary>
    /// What is not wanted any more is to be removed: at the start what a killed process left, later what a reader has released.
    /// </summary>
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
            if (ReferenceEquals(work, growing)) growing = null;
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
            case Work.Stretch stretch: WriteStretch(stretch); break;
            case Work.End end: Finish(end.Claim); break;
            case Work.Abandon: Drop("the app went away in the middle of it"); break;
            case Work.Adopt adopt: parts.Published(adopt.Name); break;
        }
    }

    /// <summary>
    /// Does something to the file, if there is to be one. A full disk costs this checkpoint and nothing else (log-format L8.4): nobody has
    /// seen its file. What is done and to what are apart, since a large image is thousands of stretches, and a
    /// closure each would be garbage.
    /// </summary>
    private void Try<T>(T what, Action<CheckpointTaker, T> write)
    {
        if (!job!.IsOurs) return;
        try
        {
            write(this, what);
        }
        catch (IOException e) when (NoSpace.Is(e))
        {
            Drop($"the disk is full: {e.Message}");
        }
    }

    private void WriteStretch(Work.Stretch stretch)
    {
        length += (ulong)stretch.Length;
        if (job!.IsOurs) Try(stretch, static (taker, image) => taker.writer!.Write(CheckpointSection.Image, image.Bytes));
        else hash = ChannelHash.Append(hash, stretch.Bytes);
        lock (gate) buffers.Return(stretch.Buffer);
    }

    private void Start(CheckpointJob started)
    {
        job = started;
        length = hash = 0;
        byte[] part = started.Part.ToBytes();
        partHash = ChannelHash.Append(0, part);
        Try((started.Header, parts.NewWriter), static (taker, made) => taker.writer = made.NewWriter(made.Header));
        Try(part, static (taker, bytes) => taker.writer!.Write(CheckpointSection.Coordinator, bytes));
        foreach ((Outbox outbox, CheckpointOutput output, List<OutboxEntry> entries) in started.Outboxes)
        {
            foreach (OutboxEntry entry in entries)
            {
                Try((outbox, output, entry), static (taker, run) => OutboxRuns.Write(taker.writer!, run.outbox, run.output, run.entry));
                outbox.Let(entry);
            }
            entries.Clear();
        }
    }

    private void Finish(ImageEnd claim)
    {
        if (writer is not null) hash = writer.ImageHash;
        if (claim.Length != length || claim.Hash != hash)
        {
            Drop($"its image has {length} bytes with hash {hash:x16}, the app says {claim.Length} with {claim.Hash:x16}");
            return;
        }
        parts.Computed(job!.Header.Lsn, new StateDigest(partHash, hash));
        try
        {
            Try(claim, static (taker, _) =>
            {
                taker.writer!.Finish();
                taker.finished = true;
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
        if (writer is not null) hash = writer.ImageHash;
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
internal sealed record CheckpointJob(
    CheckpointHeader Header, CoordinatorPart Part, List<(Outbox, CheckpointOutput, List<OutboxEntry>)> Outboxes, bool IsOurs);

/// <summary>What taking a checkpoint needs from the rest.</summary>
/// <param name="Truncate">Removes what is not wanted any more; with the header of a checkpoint that was published just
/// now, if one was.</param>
internal sealed record CheckpointParts(
    TakeSnapshot Snapshot, Action<ImageBegin> Forget, Func<CheckpointHeader, CheckpointWriter> NewWriter, Func<Lsn> StatedDurable,
    Action<CheckpointFileName> Published, Action<CheckpointHeader?> Truncate, Action<string> Failed, Action<Lsn, StateDigest> Computed,
    Action WakeWriter, Action WakeReader);

/// <summary>What a checkpoint at this place holds of the coordinator; null: <paramref name="why"/> there is none now.</summary>
internal delegate CheckpointJob? TakeSnapshot(ImageBegin begin, out string why);
