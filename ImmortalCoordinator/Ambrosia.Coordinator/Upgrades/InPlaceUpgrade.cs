using Ambrosia.Coordinator.Replica;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Locking;
using Microsoft.Extensions.Logging;

namespace Ambrosia.Coordinator.Upgrades;

/// <summary>
/// Takes an upgrade that an operator asks of a running primary from the request to its end: the new app is started beside the one that
/// serves, rehearses on copies of the live state, and is then called to take its place at one record, in the same epoch and over the same
/// links. Up to that record it can end at any time, and the app that serves goes on (protocol/models/upgrade.py, U14). One at a time. Any
/// thread; one lock, under which <see cref="Apps"/> is asked.
/// </summary>
internal sealed class InPlaceUpgrade(CoordinatorInputs inputs, AppTokens tokens)
{
    /// <summary>The new app must say hello within this time; and whoever asked is gone who has asked no more for so long.</summary>
    private static readonly TimeSpan s_comeMax = TimeSpan.FromMinutes(1), s_askedMax = TimeSpan.FromSeconds(5);

    private readonly RankedLock _gate = new(LockRank.InPlaceUpgrade);
    private InPlaceStatus _status = new(InPlaceStage.None, [], 0, "");
    private InPlaceRequest? _request;

    /// <summary>They make the upgrade since the app has come; null: it has not.</summary>
    private UpgradeParts? _parts;

    /// <summary>It was begun then, or its app came then; and whoever asked for it was there then.</summary>
    private (TimeSpan Begun, TimeSpan Asked) _times;

    /// <summary>The rehearsal went well: it goes on as soon as the app that serves is near enough to the log's end.</summary>
    private bool _hasPassed;

    /// <summary>It starts and ends processes of apps; null: nobody here can.</summary>
    public IInPlaceApps? Apps { get; set; }

    /// <summary>Connects what makes an upgrade with the rest of the replica. Called under the lock.</summary>
    public required Func<UpgradeOptions, UpgradeParts> Connect { get; init; }

    /// <summary>The parts are those that they were before <see cref="Connect"/>. Called under the lock.</summary>
    public required Action Disconnect { get; init; }

    /// <summary>
    /// The app that serves is primary, gets on, and is near enough to the log's end for its doors to be shut; and the new one waits for its
    /// state.
    /// </summary>
    public required Func<bool> MayShut { get; init; }

    public InPlaceStatus Status { get { using (_gate.Enter()) return _status; } }

    /// <summary>Begins; returns what stands against it, null: nothing is known.</summary>
    public string? Begin(InPlaceRequest request)
    {
        using (_gate.Enter())
        {
            if (_status.IsUnderWay) return "an upgrade is under way already. Wait for its end, which 'ambrosia status' shows";
            if (Apps is not { } apps)
                return "the app is started by somebody else (the coordinator is embedded in its host, or was given no program behind --), so that none can be started beside it. Start it anew with the new build";
            if (apps.WhatIsWrong(request.App) is { } wrong) return wrong;
            (_request, _parts, _hasPassed) = (request, null, false);
            TimeSpan now = inputs.Time.GetElapsedTime(0);
            _times = (now, now);
            _status = new InPlaceStatus(InPlaceStage.Starting, request.App, 0, "");
            tokens.Expect(apps.Begin(request.App));
        }
        inputs.Logger.UpgradeAsked(CommandText.Of(request.App));
        return null;
    }

    /// <summary>It is told that whoever asked for it is still there. The thread that answers.</summary>
    public void Ask()
    {
        using (_gate.Enter()) _times.Asked = inputs.Time.GetElapsedTime(0);
    }

    /// <summary>The new app has come and was judged: it waits beside the one that serves. False: the upgrade is over.</summary>
    public bool TryMeet(AppHello app)
    {
        UpgradeParts parts;
        using (_gate.Enter())
        {
            if (_status.Stage != InPlaceStage.Starting) return false;
            _status = _status with { Stage = InPlaceStage.Rehearsing, To = app.AppVersion };
            _times.Begun = inputs.Time.GetElapsedTime(0);
            _parts = parts = Connect(new UpgradeOptions(app.AppVersion)
            {
                Within = _request!.Within, Limit = _request.Limit, OldApp = Apps!.Running,
            });
            tokens.TurnToNext(Apps.IsOldServing);
            Apps.TurnTo(parts.Apps!.Pair);
        }
        parts.Rehearsal.Passed += Passed;
        parts.Round.Over += _ => End(parts, parts.Round.GivenUp is null ? InPlaceStage.Made : InPlaceStage.GivenUp, parts.Round.GivenUp ?? "");
        return true;
    }

    private void Passed()
    {
        using (_gate.Enter()) _hasPassed = true;
        TryCall();
    }

    private void TryCall()
    {
        UpgradeParts? parts;
        using (_gate.Enter())
        {
            if (_status.Stage != InPlaceStage.Rehearsing || !_hasPassed) return;
            parts = _parts;
        }
        if (!MayShut()) return;
        using (_gate.Enter())
        {
            if (_status.Stage != InPlaceStage.Rehearsing || _parts != parts) return;
            _status = _status with { Stage = InPlaceStage.Switching, Why = "" };
        }
        Apps?.Switches(parts!.Options.To);
        parts!.Round.TryCall();
    }

    /// <summary>
    /// The new app cannot take the other's place, or cannot be started: the upgrade comes to nothing. False: it is over, or it is too late.
    /// </summary>
    public bool Refuse(string why)
    {
        UpgradeParts? parts;
        using (_gate.Enter()) parts = _parts;
        return parts?.Round.TryGiveUp(why) ?? End(null, InPlaceStage.Refused, why);
    }

    /// <summary>Ends what has not come to its record; false: there is nothing, or it is too late.</summary>
    public bool TryGiveUp(string why)
    {
        UpgradeParts? parts;
        using (_gate.Enter())
        {
            if (!_status.IsUnderWay) return false;
            parts = _parts;
        }
        return parts is null ? End(null, InPlaceStage.GivenUp, why) : parts.Round.TryGiveUp(why);
    }

    /// <summary>Rehearses, and ends what takes too long. The ticking thread of a primary.</summary>
    /// <param name="runs">The version of the app that serves; null: it is not primary now.</param>
    public void Tick(TimeSpan now, uint? runs)
    {
        InPlaceStage stage;
        UpgradeParts? parts;
        TimeSpan begun, asked, within;
        bool hasPassed;
        using (_gate.Enter())
        {
            hasPassed = _hasPassed;
            (stage, parts, (begun, asked)) = (_status.Stage, _parts, _times);
            if (stage is not (InPlaceStage.Starting or InPlaceStage.Rehearsing)) return;
            within = _request!.Within;
            if (parts?.Rehearsal.Why is { Length: > 0 } refusal) _status = _status with { Why = refusal };
        }
        if (now - asked >= s_askedMax) TryGiveUp("whoever asked for the upgrade has gone");
        else if (stage == InPlaceStage.Starting)
        {
            TimeSpan most = within < s_comeMax ? within : s_comeMax;
            if (now - begun >= most)
                Refuse($"the new app has not said hello within {most.TotalSeconds:0.#} s. Start its command by hand and see what it says");
        }
        else if (now - begun >= within)
            TryGiveUp(hasPassed ? "the app that serves was never near enough to the log's end within --within, or the new app did not come back"
                : $"no rehearsal has worked within --within: {parts!.Rehearsal.Why ?? "the new app has not come back from its conversion, or the app that serves has not caught up"}");
        else
        {
            parts!.Rehearsal.Tick(now, runs);
            TryCall();
        }
    }

    /// <summary>Ends it in some way; false: it was over.</summary>
    private bool End(UpgradeParts? of, InPlaceStage how, string why)
    {
        using (_gate.Enter())
        {
            if (!_status.IsUnderWay || _parts != of) return false;
            _status = _status with { Stage = how, Why = why };
            if (how != InPlaceStage.Made)
            {
                tokens.TurnBack();
                if (of is not null) Disconnect();
            }
            Apps!.Ended(how == InPlaceStage.Made);
            _parts = null;
        }
        if (of is null) inputs.Logger.UpgradeNotBegun(why);
        return true;
    }
}

/// <summary>Says what an operator asks of a running primary.</summary>
/// <param name="App">The new app's program and arguments.</param>
internal sealed record InPlaceRequest(IReadOnlyList<string> App)
{
    /// <summary>It is rehearsed for so long before it is given up.</summary>
    public TimeSpan Within { get; init; } = TimeSpan.FromMinutes(10);

    /// <summary>The doors may be shut for so long.</summary>
    public TimeSpan Limit { get; init; } = TimeSpan.FromSeconds(10);
}

/// <summary>Says how far an upgrade under a running primary has come.</summary>
internal enum InPlaceStage
{
    /// <summary>None was asked for.</summary>
    None,

    /// <summary>The new app is started, and has not said hello.</summary>
    Starting,

    /// <summary>The new app tries what it makes of copies of the live state.</summary>
    Rehearsing,

    /// <summary>The log's doors are shut, and the state is converted.</summary>
    Switching,

    /// <summary>The new version is in force.</summary>
    Made,

    /// <summary>It cannot be made with that app, and nothing was changed.</summary>
    Refused,

    /// <summary>It came to nothing, and the app that served goes on.</summary>
    GivenUp,
}

/// <summary>Tells of an upgrade under a running primary, the last one that was asked for.</summary>
/// <param name="App">The new app's program and arguments.</param>
/// <param name="To">Its version; 0: it has not said it.</param>
/// <param name="Why">Why it was refused or given up, or why the last rehearsal did not work.</param>
internal sealed record InPlaceStatus(InPlaceStage Stage, IReadOnlyList<string> App, uint To, string Why)
{
    public bool IsUnderWay => Stage is InPlaceStage.Starting or InPlaceStage.Rehearsing or InPlaceStage.Switching;
}

/// <summary>
/// Starts and ends the processes of an upgrade under a running primary. It is called under a lock, and waits for nothing.
/// </summary>
internal interface IInPlaceApps
{
    /// <summary>It is the app that serves, with its arguments.</summary>
    IReadOnlyList<string> Running { get; }

    /// <summary>It is the old one of two, because the upgrade that the command line asks for was given up.</summary>
    bool IsOldServing { get; }

    /// <summary>Says why a program cannot be started; null: nothing is known against it.</summary>
    string? WhatIsWrong(IReadOnlyList<string> app);

    /// <summary>Starts the new app; returns the token that it will show.</summary>
    ReadOnlyMemory<byte> Begin(IReadOnlyList<string> app);

    /// <summary>The new app waits beside the one that serves, which is the old one of two from here on.</summary>
    void TurnTo(AppPair pair);

    /// <summary>The doors are about to be shut: what a start of the same command line is to be told is noted. Under no lock.</summary>
    void Switches(uint to);

    /// <summary>It is over. If it was not made, the new app ends, and the one that serves is what it was.</summary>
    void Ended(bool isMade);
}

/// <summary>Declares the events of upgrades under a running primary.</summary>
internal static partial class InPlaceEvents
{
    /// <summary>An operator asks this primary to go on with another build, which is started beside its app.</summary>
    [LoggerMessage(EventId = 847, EventName = "upgrade.asked", Level = LogLevel.Information,
        Message = "an upgrade under this primary is asked for: '{App}' is started beside its app")]
    public static partial void UpgradeAsked(this ILogger logger, string app);

    /// <summary>The new app cannot take the place of the one that serves, which goes on. Nothing was changed.</summary>
    [LoggerMessage(EventId = 848, EventName = "upgrade.not.begun", Level = LogLevel.Warning,
        Message = "the upgrade under this primary was not begun: {Why}")]
    public static partial void UpgradeNotBegun(this ILogger logger, string why);
}
