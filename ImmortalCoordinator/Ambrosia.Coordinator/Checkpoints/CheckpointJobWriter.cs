using Ambrosia.Coordinator.Outboxes;
using Ambrosia.Log.Checkpoints;
using Ambrosia.Log.Files;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Checkpoints;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Hashing;
using Ambrosia.Protocol.Locking;

namespace Ambrosia.Coordinator.Checkpoints;

/// <summary>
/// Writes one checkpoint after another: its file, its hash, and its name once the log states that its place is durable. It owns the file
/// under way; there is one while the job is ours, from its first step to its name. A job that is not ours, or that came to nothing, is only
/// counted and compared. The thread that writes checkpoints, but for <see cref="Forbid"/>.
/// </summary>
internal sealed class CheckpointJobWriter(
    ICheckpointOutcome outcome, Func<CheckpointHeader, CheckpointWriter> newWriter, Func<Lsn> statedDurable) : IDisposable
{
    private readonly RankedLock _naming = new(LockRank.CheckpointJobWriter);
    private bool _isForbidden; // guarded by naming
    private CheckpointWriter? _file;
    private CheckpointJob? _job;

    /// <summary>The image's length so far and its hash; the hash is the file's own business while there is one.</summary>
    private ulong _length, _hash;
    private ulong _partHash;

    /// <summary>The file is whole and waits for its name. Written by the thread that writes checkpoints, read by any.</summary>
    private volatile bool _isFinished;

    public bool IsFinished => _isFinished;

    /// <summary>It hears what becomes of the job under way.</summary>
    private ICheckpointOutcome Outcome => _job?.Outcome ?? outcome;

    /// <summary>This replica has diverged: nothing of it gets a name any more. Any thread.</summary>
    public void Forbid()
    {
        using (_naming.Enter()) _isForbidden = true;
    }

    public void Start(CheckpointJob started)
    {
        _job = started;
        _length = _hash = 0;
        byte[] part = started.Part.ToBytes();
        _partHash = ChannelHash.Append(0, part);
        Try((started.Header, newWriter), static (writer, made) => writer._file = made.newWriter(made.Header));
        Try(part, static (writer, bytes) => writer._file!.Write(CheckpointSection.CoordinatorPart, bytes));
        foreach ((Outbox outbox, CheckpointOutput output, List<OutboxEntry> entries) in started.Outboxes)
        {
            foreach (OutboxEntry entry in entries)
            {
                Try((outbox, output, entry), static (writer, run) => OutboxRuns.Write(writer._file!, run.outbox, run.output, run.entry));
                outbox.Release(entry);
            }
            entries.Clear();
        }
    }

    /// <summary>The next stretch of the image.</summary>
    public void Write(CheckpointStep.Stretch stretch)
    {
        _length += (ulong)stretch.Length;
        if (_job!.IsOurs) Try(stretch, static (writer, image) => writer._file!.Write(CheckpointSection.Image, image.Bytes));
        else _hash = ChannelHash.Append(_hash, stretch.Bytes);
    }

    public void Finish(ImageEnd claim)
    {
        if (_file is not null) _hash = _file.ImageHash;
        if (claim.Length != _length || claim.Hash != _hash)
        {
            Drop($"its image has {_length} bytes with hash {_hash:x16}, the app says {claim.Length} with {claim.Hash:x16}");
            return;
        }
        if (Outcome.Computed(_job!.Header.Lsn, new StateDigest(_partHash, _hash)) is { } refused)
        {
            Drop(refused);
            return;
        }
        try
        {
            Try(claim, static (writer, _) =>
            {
                writer._file!.Finish();
                writer._isFinished = true;
            });
        }
        catch (FileNotFoundException)
        {
            Drop("a new primary has removed the unfinished file");
        }
    }

    /// <summary>The finished file waits until what a replay has computed of it is confirmed, and must not keep another waiting.</summary>
    public bool IsUnconfirmed => _job!.MayBeNamed?.Invoke() == false;

    /// <summary>
    /// Gives the finished file its name (log-format L6.7); false: no page on disk states yet that its place is durable, or nothing has
    /// confirmed its state yet.
    /// </summary>
    /// <exception cref="IOException">The system does not do it now; the file waits on, and it is tried again.</exception>
    public bool TryPublish()
    {
        Lsn stated = statedDurable();
        if (stated < _job!.Header.Lsn || IsUnconfirmed) return false;
        bool isPublished;
        using (_naming.Enter()) isPublished = !_isForbidden && _file!.Publish(stated);
        _isFinished = false;
        _file!.Dispose();
        _file = null;
        if (isPublished)
        {
            Outcome.Published(_job.Header.FileName);
            Outcome.Truncate(_job.Header);
        }
        else Outcome.Failed(_isForbidden ? "this replica has diverged, so nothing of it gets a name"
            : "a new primary has removed the unfinished file");
        return true;
    }

    /// <summary>The checkpoint came to nothing: what still comes of its image is only compared.</summary>
    public void Drop(string why)
    {
        if (!_job!.IsOurs) return;
        _job = _job with { IsOurs = false };
        _isFinished = false;
        if (_file is not null) _hash = _file.ImageHash;
        Dispose();
        Outcome.Failed(why);
    }

    /// <summary>
    /// Does something to the file, if there is to be one. A full disk costs this checkpoint and nothing else (log-format L8.4): nobody has
    /// seen its file. What is done and to what are apart, since a large image is thousands of stretches, and a
    /// closure each would be garbage.
    /// </summary>
    private void Try<T>(T what, Action<CheckpointJobWriter, T> write)
    {
        if (!_job!.IsOurs) return;
        try
        {
            write(this, what);
        }
        catch (IOException e) when (IFileSystem.IsNotNow(e))
        {
            Drop(IFileSystem.IsDiskFull(e) ? $"the disk is full: {e.Message}" : e.Message);
        }
    }

    /// <summary>Abandons the file under way.</summary>
    public void Dispose()
    {
        _file?.Abandon();
        _file?.Dispose();
        _file = null;
    }
}

/// <summary>
/// Hears what became of a checkpoint. The thread that writes checkpoints, but for <see cref="Failed"/>, which any may call.
/// </summary>
internal interface ICheckpointOutcome
{
    /// <summary>A checkpoint has its name, this replica's or another's; true: what it makes superfluous is to be removed.</summary>
    bool Published(CheckpointFileName name);

    /// <summary>Removes what is not wanted any more.</summary>
    /// <param name="published">This checkpoint got its name just now; null: none did.</param>
    void Truncate(CheckpointHeader? published);

    /// <summary>A checkpoint came to nothing.</summary>
    void Failed(string why);

    /// <summary>
    /// The state at a checkpoint's place is known, be it published by this replica or not. Returns why the checkpoint is not to have its
    /// name; null: it may.
    /// </summary>
    string? Computed(Lsn place, StateDigest state);
}
