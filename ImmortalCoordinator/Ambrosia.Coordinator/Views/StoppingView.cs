using Ambrosia.Protocol;
using Ambrosia.Protocol.Checkpoints;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Hashing;
using Ambrosia.Protocol.Locking;
using Ambrosia.Protocol.Payloads;
using Ambrosia.Protocol.Runs;

namespace Ambrosia.Coordinator.Views;

/// <summary>
/// A view that stops before places, shows the state there, and goes on. It owns the place that was asked for and whether the app stands
/// there. Whoever looks asks it from any thread; it answers by <see cref="IViewer"/>. Invariant: the app is given nothing while it stands.
/// </summary>
/// <param name="from">Sessions begin with this checkpoint, or the newest one at or below; null: the newest below the place.</param>
/// <param name="keepsOutputs">See <see cref="View.KeepsOutputs"/>.</param>
internal sealed class StoppingView(IViewer viewer, Lsn? from, bool keepsOutputs = false) : View(keepsOutputs)
{
    /// <summary>So much of what the app emits between two stops is kept. In bytes.</summary>
    private const long EmissionBytesMax = 64 << 20;

    /// <summary>The number of each query: there is one at a time.</summary>
    private const ulong OnlyQuery = 1;

    private readonly RankedLock _gate = new(LockRank.StoppingView);
    private readonly EmissionRecorder _emitted = new(EmissionBytesMax);
    private IViewedApp? _app;

    /// <summary>The app was asked for this last; null: for nothing yet.</summary>
    private Look? _goal;

    /// <summary>The app stands here; null: it executes.</summary>
    private MessagePlace? _stands;

    /// <summary>The log's end was reached, and the app was told to stop there.</summary>
    private bool _isEnding;

    private Exchange _exchange = new() { IsTold = true };

    private Lsn? _beginsBelow = from;

    /// <summary>The image that comes in; null: none does.</summary>
    private (LargeBuffer Bytes, ulong Hash, Lsn Lsn, uint Version)? _image;

    public override Lsn BeginsBelow
    {
        get
        {
            using (_gate.Enter())
            {
                Lsn goal = _goal is { } look && !look.Flags.HasFlag(LookFlags.Next) ? look.Place.Record : new Lsn(Lsn.Limit - 1);
                return _beginsBelow is { } fixedAt && fixedAt < goal ? fixedAt : goal;
            }
        }
    }

    /// <summary>A session cannot begin at or behind this place: the next one begins below.</summary>
    public void BeginBelow(Lsn place)
    {
        using (_gate.Enter()) _beginsBelow = new Lsn(place.Value - 1);
    }

    /// <summary>
    /// Executes everything before a place and stops there; a place before the one where the app stands is reached by another session of the
    /// same process.
    /// </summary>
    public void To(MessagePlace place, LookFlags flags) => AskFor(new Look(place, flags));

    /// <summary>Executes the next message and stops behind it.</summary>
    public void Next(LookFlags flags) => AskFor(new Look(default, flags | LookFlags.Next));

    private void AskFor(Look look)
    {
        IViewedApp? app;
        int further;
        bool stands;
        using (_gate.Enter())
        {
            if (_exchange.ByDebugger)
            {
                _exchange.Then = look; // where it stands then says which way it is
                return;
            }
            (app, stands) = (_app, _stands is not null);
            further = look.Flags.HasFlag(LookFlags.Next) || _stands is not { } at ? 1 : look.Place.CompareTo(at);
            if (further != 0) Ask(look);
            if (further < 0) _app = null;
        }
        if (further == 0) // told twice, it would stand twice
            viewer.Stopped(new Seen(look.Place), isEnd: false, isAsked: true, ViewedEmissions.None);
        if (app is null || further == 0) return; // a session that comes is told
        if (further < 0) app.BeginAgain();
        else Tell(app, look, stands);
    }

    /// <summary>Asks for the image of the state where the app stands.</summary>
    public void Show()
    {
        IViewedApp? app;
        Look look;
        using (_gate.Enter())
        {
            app = _app;
            if (app is null) return; // it has ended: whoever waits for the image is told
            look = new Look(_stands ?? throw new InvalidOperationException("the app has not stopped"), LookFlags.Image);
        }
        app?.Send(look);
    }

    /// <summary>Asks the app where it stands; it is asked for one thing at a time.</summary>
    public void Query(uint method, ReadOnlyMemory<byte> arguments)
    {
        IViewedApp? app;
        MessagePlace at;
        using (_gate.Enter())
        {
            app = _app;
            if (app is null) return; // it has ended: whoever waits for the answer is told
            at = _stands ?? throw new InvalidOperationException("the app has not stopped");
        }
        app?.Ask(new QueryFrame(OnlyQuery, at.Record, 0, method, arguments.Span));
    }

    /// <summary>Asks the app for its state as a later version has it, where it stands between two records.</summary>
    public void Convert(uint from, uint to, ConversionUse use)
    {
        IViewedApp? app;
        Lsn at;
        using (_gate.Enter())
        {
            app = _app;
            if (app is null) return; // it has ended: whoever waits for the answer is told
            at = _stands is { Index: 0, Record: var record } ? record : throw new InvalidOperationException("the app has not stopped between records");
            _exchange.Converts = true;
        }
        app.Convert(new ConvertFrame(at, from, to, use));
    }

    private void Ask(Look look)
    {
        (_goal, _stands, _isEnding, _exchange.IsTold) = (look, null, false, false);
        _emitted.Take();
    }

    private void Tell(IViewedApp app, Look look, bool stands)
    {
        app.Send(look);
        if (stands) app.Go();
        using (_gate.Enter()) _exchange.IsTold = true;
        app.Wake();
    }

    public override void Begin(IViewedApp app, Lsn from)
    {
        Look? goal;
        using (_gate.Enter())
        {
            _goal = _exchange.Then ?? _goal;
            (_app, _stands, _isEnding, _exchange, goal) = (app, null, false, default, _goal);
        }
        viewer.Began(from, app.App);
        if (goal is { } look) Tell(app, look, stands: false);
    }

    public override void Ended(IViewedApp app)
    {
        _image?.Bytes.Dispose();
        _image = null;
        using (_gate.Enter())
        {
            if (_app is not null && _app != app) return; // the next session has begun already
            (_app, _stands) = (null, null);
        }
        viewer.Ended(app.EndReason ?? "");
    }

    public override bool MayGive(Lsn page, Lsn? executed)
    {
        using (_gate.Enter())
        {
            if (_app is null || _goal is not { } goal || _stands is not null || _isEnding || !_exchange.IsTold) return false;
            if (goal.Flags.HasFlag(LookFlags.Next)) return executed is not null;
            // Pages that begin before the place are given at full speed. If it is not in them, it is the first one behind.
            return executed is { } all ? all < goal.Place.Record : page < goal.Place.Record;
        }
    }

    public override void AtEnd(Lsn executed)
    {
        IViewedApp? app;
        LookFlags flags;
        using (_gate.Enter())
        {
            if (_goal is not { } goal || _stands is not null || _isEnding || !_exchange.IsTold) return;
            if (!goal.Flags.HasFlag(LookFlags.Next) && goal.Place.Record <= executed) return; // it stops there by itself
            _isEnding = true;
            (app, flags) = (_app, goal.Flags & ~LookFlags.Next);
        }
        app?.Send(new Look(default, flags));
    }

    /// <summary>What the app emits is kept for each stop; false: only for a stop one message behind the last. Any thread.</summary>
    public bool KeepsEmissions { get => _keepsEmissions; set => _keepsEmissions = value; }

    private volatile bool _keepsEmissions;

    public override void Emitted(InstanceId to, ulong before, in RunView run) => Keep(to, before, run);

    public override void Answered(ulong before, in RunView run) => Keep(null, before, run);

    private void Keep(InstanceId? to, ulong before, in RunView run)
    {
        using (_gate.Enter())
            if (_keepsEmissions || (_goal is { Flags: var flags } && flags.HasFlag(LookFlags.Next))) _emitted.Add(to, before, run);
    }

    public override void Executed(Lsn lsn)
    {
        IViewedApp? app;
        using (_gate.Enter()) app = _stands is null ? _app : null;
        app?.Wake(); // it may be dry now
    }

    public override string WhenTruncated(Lsn next) =>
        $"the log at {next} was removed before this view had executed it, since nothing held it any more. Look again, and hold it for longer (--hold of 'debug', --hold-limit of the primary), or look at a copy of the directory";

    public override bool Tolerates(string divergence)
    {
        viewer.Diverged(divergence);
        return true;
    }

    public override bool TryTake(FrameType type, ReadOnlySpan<byte> payload)
    {
        switch (type)
        {
            case FrameType.Seen: Stopped(Seen.Read(payload)); break;
            case FrameType.ImageBegin: BeginImage(ImageBegin.Read(payload)); break;
            case FrameType.ImageChunk: AddToImage(ImageChunk.Read(payload)); break;
            case FrameType.ImageEnd: EndImage(ImageEnd.Read(payload)); break;
            case FrameType.QueryAnswer: Answered(QueryAnswerFrame.Read(payload, SizeLimits.MessageBytesMaxLimit)); break;
            case FrameType.Waiting: viewer.NotShown(Waiting.Read(payload).Why); break;
            case FrameType.Converted: return TryEndConversion(ConvertedFrame.Read(payload));
            default: return false;
        }
        return true;
    }

    private void Stopped(Seen seen)
    {
        if (seen.GoesOn)
        {
            GoOnByDebugger();
            return;
        }
        bool isNew, isEnd, isAsked;
        ViewedEmissions emitted;
        Look? then;
        using (_gate.Enter())
        {
            if (_app is null) return; // it is ending, for another session
            isNew = _stands is null;
            (_stands, isEnd, emitted) = (seen.Place, _isEnding, isNew ? _emitted.Take() : ViewedEmissions.None);
            (isAsked, then) = (!_exchange.ByDebugger, _exchange.Then);
            (_exchange.ByDebugger, _exchange.Then) = (false, null);
        }
        if (then is { } look) AskFor(look);
        else if (isNew) viewer.Stopped(seen, isEnd, isAsked, emitted);
    }

    /// <summary>
    /// The app stands, and its debugger's user goes on: to the next message, if nothing else was asked for while the process stood still.
    /// </summary>
    private void GoOnByDebugger()
    {
        IViewedApp app;
        Look look;
        using (_gate.Enter())
        {
            if (_app is null || _stands is null || _goal is not { } goal) return;
            (app, look) = (_app, new Look(default, (goal.Flags & ~LookFlags.Image) | LookFlags.Next));
            Ask(look);
            _exchange.ByDebugger = true;
        }
        Tell(app, look, stands: true);
    }

    /// <summary>False: it is the answer to an upgrade that the log has.</summary>
    private bool TryEndConversion(ConvertedFrame answer)
    {
        using (_gate.Enter())
        {
            if (!_exchange.Converts) return false;
            _exchange.Converts = false;
        }
        viewer.Converted(answer);
        return true;
    }

    private void Answered(in QueryAnswerFrame answer)
    {
        if (answer.Query != OnlyQuery) throw new ProtocolViolation("P5.18", $"an answer to query {answer.Query}, which the app was not asked");
        if (answer.Status == QueryStatus.NotNow) throw new ProtocolViolation("P5.18", "the app does not answer a query");
        viewer.Answered(new ViewedAnswer(answer.Status, answer.Answer.ToArray()));
    }

    private void BeginImage(ImageBegin begin) => _image = _image is null ? (new LargeBuffer(), 0UL, begin.Position, begin.ImageVersion)
        : throw new ProtocolViolation("P5.7", "an image begins inside another");

    private void AddToImage(ReadOnlySpan<byte> chunk)
    {
        if (_image is not { } image) throw new ProtocolViolation("P5.7", "a chunk of an image that has not begun");
        image.Bytes.Append(chunk);
        _image = image with { Hash = ChannelHash.Append(image.Hash, chunk) };
    }

    private void EndImage(ImageEnd end)
    {
        if (_image is not { } image) throw new ProtocolViolation("P5.7", "the end of an image that has not begun");
        _image = null;
        if (end.Length != (ulong)image.Bytes.Length || end.Hash != image.Hash)
            throw new ProtocolViolation("P5.7", $"an image of {image.Bytes.Length} bytes with hash {image.Hash:x16} that says {end.Length} and {end.Hash:x16}");
        viewer.Shown(new ViewedImage(image.Bytes, image.Lsn, image.Version, image.Hash));
    }

    /// <summary>Notes what the app was told and asked, and what its debugger's user has done.</summary>
    /// <param name="IsTold">The app has heard where to stop: it gets nothing before.</param>
    /// <param name="Converts">It was asked to convert its state, and has not answered.</param>
    /// <param name="ByDebugger">It executes the message to which its debugger's user has gone on.</param>
    /// <param name="Then">This was asked for meanwhile, and comes behind that message; null: nothing was.</param>
    private record struct Exchange(bool IsTold, bool Converts, bool ByDebugger, Look? Then);
}

/// <summary>Hears what becomes of a view. The thread that reads the app calls, under no lock.</summary>
internal interface IViewer
{
    /// <summary>A session has begun, with the checkpoint of this place, or with the log's beginning.</summary>
    /// <param name="app">What the app says of itself.</param>
    void Began(Lsn from, AppHello? app);

    /// <summary>A session has ended.</summary>
    void Ended(string why);

    /// <summary>Everything before a place is executed, and it is not.</summary>
    /// <param name="isEnd">The log ends before the place that was asked for.</param>
    /// <param name="isAsked">Whoever looks has asked for it; false: the user of the app's debugger has gone on.</param>
    /// <param name="emitted">Since the stop before, if that was the message before, or if all is kept.</param>
    void Stopped(Seen seen, bool isEnd, bool isAsked, ViewedEmissions emitted);

    /// <summary>The image that was asked for; whoever takes it disposes of it.</summary>
    void Shown(ViewedImage image);

    /// <summary>The answer to the query that was asked.</summary>
    void Answered(ViewedAnswer answer);

    /// <summary>The state was converted, or cannot be.</summary>
    void Converted(ConvertedFrame answer);

    /// <summary>There is no image at this place.</summary>
    void NotShown(string why);

    /// <summary>The app does not do what the log says.</summary>
    void Diverged(string why);
}
