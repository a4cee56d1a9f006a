using Ambrosia.Coordinator.Primary;
using Ambrosia.Log.Reading;
using Ambrosia.Log.Recovery;
using Ambrosia.Protocol;

namespace Ambrosia.Coordinator;

/// <summary>
/// Decides what a secondary does while another replica is primary: it reads the log on, notes when its app has caught up for the first
/// time, looks at the primary's heartbeat, and sets space aside for its own promotion. It never waits: a pump calls it again, after the
/// pause that it is told. One thread, which ends before the log is taken over.
/// </summary>
/// <param name="newSpare">Makes a file that the log can go on in behind this epoch; null: there is no room for it.</param>
/// <param name="caughtUp">Hears, once, that the app has executed all that is stated as durable.</param>
/// <param name="gotOn">Hears that a piece of the log was read, of which a step reads as many as there are; null: nobody does.</param>
internal sealed class SecondaryRole(Coordinator parts, TakeOverMonitor monitor, LogFollower follower,
    Func<Epoch, PromotionSpare?> newSpare, Action caughtUp, Action? gotOn = null)
{
    private static readonly TimeSpan s_pauseMin = TimeSpan.FromMilliseconds(1), s_pauseMax = TimeSpan.FromMilliseconds(16),
        s_lookEvery = TimeSpan.FromMilliseconds(100), s_tellEvery = TimeSpan.FromMilliseconds(250);

    private TimeSpan _pause;

    /// <summary>Holds when this replica looked at the heartbeat, and when it told that it moves.</summary>
    private (TimeSpan Looked, TimeSpan Told) _last;

    private bool _wasCaughtUp;
    private Epoch _spareTried;

    /// <summary>
    /// Hears, a few times a second, that this replica moves and how far its app has executed the log; zero: it could not go on now.
    /// </summary>
    public Action<Lsn>? Moves { get; init; }

    /// <summary>The space set aside for a promotion. It belongs to the thread of <see cref="Step"/> until that has ended.</summary>
    public PromotionSpare? Spare { get; private set; }

    /// <summary>Does what is due, and says what the pump is to do now.</summary>
    /// <param name="now">Monotonic.</param>
    public SecondaryStep Step(TimeSpan now, CancellationToken stop)
    {
        bool advanced = Follow(stop);
        NoteWhenCaughtUp();
        if (now - _last.Told >= s_tellEvery)
        {
            _last.Told = now;
            TellMove();
        }
        Epoch? hanging = null;
        if (now - _last.Looked >= s_lookEvery)
        {
            _last.Looked = now;
            hanging = monitor.FindHanging(now);
        }
        _pause = advanced || _pause == TimeSpan.Zero ? s_pauseMin : _pause * 2 < s_pauseMax ? _pause * 2 : s_pauseMax;
        bool isPreparing = !advanced && _wasCaughtUp && PrepareSpare();
        return new SecondaryStep(isPreparing ? TimeSpan.Zero : _pause, hanging);
    }

    private bool Follow(CancellationToken stop)
    {
        Lsn before = follower.Stated;
        bool advanced = false;
        while (follower.Step() && !stop.IsCancellationRequested)
        {
            advanced = true;
            gotOn?.Invoke();
        }
        if (follower.Stated != before) parts.Followed();
        return advanced;
    }

    private void NoteWhenCaughtUp()
    {
        if (_wasCaughtUp || !parts.Sessions.IsCaughtUp) return;
        _wasCaughtUp = true;
        caughtUp();
        TellMove();
    }

    private void TellMove() => Moves?.Invoke(
        !parts.IsEnding && parts.Sessions.Admission.Obstacle is null && parts.AppWatch.Overdue is null && monitor.MayFollow(follower.Epoch)
            ? parts.Sessions.Executed : Lsn.Zero);

    /// <summary>
    /// Takes one step towards a zeroed file for the promotion, when there is nothing to read; false: there is none to take.
    /// </summary>
    private bool PrepareSpare()
    {
        if (_spareTried == follower.Epoch) return Spare?.Prepare() ?? false;
        _spareTried = follower.Epoch;
        Spare?.Dispose(); // of an epoch that is over: its file is removed by that take-over
        Spare = newSpare(follower.Epoch);
        return true;
    }
}

/// <summary>It says what the pump of a secondary does before it asks again.</summary>
/// <param name="Pause">It pauses for so long.</param>
/// <param name="Hanging">The primary of this epoch hangs, and is to be taken over from; null: none does.</param>
internal readonly record struct SecondaryStep(TimeSpan Pause, Epoch? Hanging);
