using Ambrosia.Log.Files;
using Ambrosia.Protocol.Locking;

namespace Ambrosia.Coordinator.Hosting;

/// <summary>
/// Keeps a segment of the log from being truncated while a view may read it again: as long as the primary lets it (--hold-limit), or for a
/// time from the first segment on, after which nothing is held any more. Any thread.
/// </summary>
/// <param name="longest">Zero: nothing is held; null: only the primary bounds it.</param>
/// <param name="over">Hears that the time is over.</param>
internal sealed class ViewHold(IFileSystem files, TimeSpan? longest, TimeProvider time, Action over) : IDisposable
{
    private readonly RankedLock _gate = new(LockRank.ViewHold);
    private IFile? _held;
    private ITimer? _timer;
    private bool _isOver = longest == TimeSpan.Zero;

    /// <summary>Nothing is to be held any more.</summary>
    public bool IsOver { get { using (_gate.Enter()) return _isOver; } }

    /// <summary>Holds this segment in place of the one before; false: it is being removed.</summary>
    public bool TryHold(string segment)
    {
        using (_gate.Enter())
            if (_isOver) return true;
        IFile file;
        try
        {
            file = files.Open(segment, FileUse.Read);
        }
        catch (FileNotFoundException)
        {
            return false;
        }
        if (file.TryLock(FileLockKind.Shared))
        {
            Replace(file)?.Dispose();
            return true;
        }
        file.Dispose();
        return false;
    }

    /// <summary>Holds a file, unless the time has ended meanwhile; returns the one that is not held any more.</summary>
    private IFile? Replace(IFile file)
    {
        using (_gate.Enter())
        {
            if (_isOver) return file;
            if (longest is { } limit) _timer ??= time.CreateTimer(_ => End(), null, limit, Timeout.InfiniteTimeSpan);
            (IFile? before, _held) = (_held, file);
            return before;
        }
    }

    private void End()
    {
        bool isNew;
        IFile? file;
        using (_gate.Enter()) (isNew, _isOver, file, _held) = (!_isOver, true, _held, null);
        file?.Dispose();
        if (isNew) over();
    }

    public void Dispose()
    {
        IFile? file;
        using (_gate.Enter()) (_isOver, file, _held) = (true, _held, null);
        file?.Dispose();
        _timer?.Dispose();
    }
}
