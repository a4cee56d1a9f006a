using Ambrosia.Coordinator.LogFeed;
using Ambrosia.Coordinator.Replica;
using Ambrosia.Log.Files;
using Ambrosia.Protocol.Locking;

namespace Ambrosia.Coordinator.Hosting;

/// <summary>
/// Drives the committer: inline on the thread that has nothing more to append, else on a thread of its own, so that an idle system pays
/// no hand-off and a busy one overlaps. One thread at a time inside. Any failure here leaves the disk's state unknown and ends the process.
/// </summary>
internal sealed class CommitPump(Action<int, string> fail, PumpProgress progress) : IDisposable
{
    private readonly RankedLock _inside = new(LockRank.CommitPump);
    private readonly Parker _parker = new();
    private readonly ManualResetEventSlim _room = new(false);
    private readonly PumpWork _work = progress.Enter("commit");
    private Committer? _committer;
    private volatile bool _stopped, _asked;

    /// <summary>A commit has failed, and the process ends: nothing is committed any more. Guarded by the lock.</summary>
    private bool _hasFailed;

    /// <summary>Wakes whoever prepares space for the log.</summary>
    public Action? SpaceWanted { private get; set; }

    public void Start(Committer committer)
    {
        _committer = committer;
        PumpThread.Start("commit", Loop, fail);
    }

    /// <summary>Hears that something has come in.</summary>
    public Action? Stirred { private get; set; }

    public void Commit(bool drained)
    {
        if (drained) LockChecks.BeforeCommit();
        Stirred?.Invoke();
        if (_inside.IsHeldByCurrentThread) return; // the loop that called us goes on
        if (drained && TryRunHere(out _)) return;
        _asked = true;
        _parker.Wake();
    }

    private bool TryRunHere(out bool worked)
    {
        worked = false;
        if (_committer is null || !_inside.TryEnter()) return false;
        try { worked = RunUntilParked(); }
        finally { _inside.Exit(); }
        return true;
    }

    private void Loop()
    {
        while (!_stopped)
        {
            _parker.Park(() => _asked || _stopped, Timeout.InfiniteTimeSpan);
            _asked = false;
            using (_inside.Enter()) RunUntilParked();
        }
    }

    /// <summary>True when there was something to commit.</summary>
    private bool RunUntilParked()
    {
        if (_hasFailed) return false; // the failed group stays as it is, while other threads go on for a moment
        bool worked = false;
        try
        {
            var spin = new SpinWait();
            while (true)
            {
                _work.Begin(); // each step by itself: a busy one goes on for as long as there is something to commit
                CommitStep step = _committer!.Step();
                if (step == CommitStep.Park)
                {
                    _work.End();
                    if (_committer.IsAwaitingSpace) SpaceWanted?.Invoke();
                    return worked;
                }
                worked = true;
                if (step == CommitStep.Spin) spin.SpinOnce(sleep1Threshold: -1);
            }
        }
        catch (IOException e) when (!IFileSystem.IsLimit(e.HResult)) // which says nothing of the disk
        {
            _hasFailed = true;
            fail(ExitCodes.Io, $"the log cannot be written: {e.Message}. What was not acknowledged is not lost: senders keep it.");
        }
        catch (Exception fatal)
        {
            _hasFailed = true;
            (int code, string why) = ExitCodes.Ending(fatal, "commit");
            fail(code, why);
        }
        return worked;
    }

    /// <summary>Blocks until something was committed or written that may have made room, but for a short while at the most.</summary>
    public void WaitForRoom(CancellationToken stop)
    {
        LockChecks.BeforeWait();
        _room.Reset(); // before looking who commits: whoever does so now will set it when it is done
        if (TryRunHere(out bool worked) && worked) return;
        _room.Wait(TimeSpan.FromMilliseconds(5), stop);
    }

    public void MadeRoom() => _room.Set();

    public void Dispose()
    {
        _stopped = true;
        _parker.Wake();
    }
}
