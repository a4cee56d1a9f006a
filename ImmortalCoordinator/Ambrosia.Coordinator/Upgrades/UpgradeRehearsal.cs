using Ambrosia.Coordinator.Replica;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Locking;

namespace Ambrosia.Coordinator.Upgrades;

/// <summary>
/// Lets the app of a secondary try its conversion on a copy of the live state, again and again until it works; only then the replica takes
/// over, or a primary begins. So what can be known before is known before anybody waits. Any thread; one lock.
/// </summary>
/// <param name="options">What is rehearsed, and for how long.</param>
/// <param name="ask">Sends a frame to the app.</param>
internal sealed class UpgradeRehearsal(CoordinatorInputs inputs, UpgradeOptions options, Action<ConvertFrame> ask)
{
    /// <summary>
    /// It must work so often: the first time the app compiles its code on the way, and takes far longer than an upgrade behind it does. In
    /// the pauses between them the app compiles what it has used much twice more: to see how it is used, and then for good.
    /// </summary>
    public const int PassesMin = 3;

    /// <summary>
    /// One that is refused may be so for long, and takes processors that the primary may share: it is tried again behind a tenth of the
    /// time since it began, and behind some times what it took, within bounds.
    /// </summary>
    private const int PartsOfTime = 10, RestsPerTry = 5;

    private static readonly TimeSpan s_againMin = TimeSpan.FromSeconds(1), s_againMax = TimeSpan.FromSeconds(30),
        s_warmUp = TimeSpan.FromMilliseconds(300);

    private readonly RankedLock _gate = new(LockRank.UpgradeRehearsal);

    /// <summary>The app was asked then and has not answered; null: it was not, or it has.</summary>
    private TimeSpan? _asked;

    private TimeSpan _next;

    /// <summary>Its time began then; null: not yet.</summary>
    private TimeSpan? _begun;

    private string? _why;

    /// <summary>It has worked so often, one time behind the other.</summary>
    private int _passes;

    private bool _isOver;

    /// <summary>The log lacks the upgrade; false: another replica has made it while this one rehearsed.</summary>
    public Func<bool> IsDue { get; init; } = static () => true;

    /// <summary>The rehearsal went well: the replica may take over. Called once, under no lock.</summary>
    public event Action? Passed;

    /// <summary>
    /// Asks the app if it is due; true: the time for it is over, and it has never worked. The ticking thread of a secondary.
    /// </summary>
    /// <param name="runs">The version that the app executes; null: none has caught up, so none is asked.</param>
    public bool Tick(TimeSpan now, uint? runs)
    {
        using (_gate.Enter())
        {
            if (_isOver || runs >= options.To) return false;
            _begun ??= now;
            if (now - _begun >= options.Within) return _isOver = true;
            if (runs is null || _asked is not null || now < _next) return false;
            _asked = now;
        }
        ask(new ConvertFrame(Lsn.Zero, runs.Value, options.To, ConversionUse.Rehearsal));
        return false;
    }

    /// <summary>Why it has not worked so far; null: nothing is known.</summary>
    public string? Why { get { using (_gate.Enter()) return _why; } }

    /// <summary>The app has tried.</summary>
    public void Answered(ConvertedFrame answer)
    {
        bool isNew;
        TimeSpan took;
        using (_gate.Enter())
        {
            if (_asked is not { } asked) throw new ProtocolViolation("P5.25", "an answer to a rehearsal that nobody asked for");
            TimeSpan now = inputs.Time.GetElapsedTime(0);
            took = now - asked;
            isNew = answer.Why != _why;
            bool works = answer.Why.Length == 0;
            _passes = works ? _passes + 1 : 0;
            (_asked, _next, _why) = (null, now + (works ? s_warmUp : RestAfter(took, now - _begun!.Value)), works ? null : answer.Why);
            _isOver = _passes == PassesMin;
            if (works && !_isOver) return;
        }
        if (answer.Why.Length > 0)
        {
            if (isNew) inputs.Logger.UpgradeRefused(options.To, answer.Position, answer.Why);
            return;
        }
        LockChecks.BeforeCallOut();
        if (!IsDue()) return;
        inputs.Logger.UpgradeRehearsed(answer.Position, answer.Length, options.To, took.TotalMilliseconds);
        Passed?.Invoke();
    }

    private static TimeSpan RestAfter(TimeSpan took, TimeSpan sinceBegun)
    {
        long rest = Math.Max((took * RestsPerTry).Ticks, (sinceBegun / PartsOfTime).Ticks);
        return TimeSpan.FromTicks(Math.Clamp(rest, s_againMin.Ticks, s_againMax.Ticks));
    }

    /// <summary>The app's session has ended: what was asked is not answered any more.</summary>
    public void SessionEnded()
    {
        using (_gate.Enter()) _asked = null;
    }
}
