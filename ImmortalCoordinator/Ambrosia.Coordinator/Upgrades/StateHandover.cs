using Ambrosia.Coordinator.Replica;
using Ambrosia.Log.Files;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Locking;
using Ambrosia.Protocol.Records;

namespace Ambrosia.Coordinator.Upgrades;

/// <summary>
/// Takes the state of the old app to the new one, where both run in processes of their own, and the answer back to whoever asked: so two
/// apps together do what an app of both versions does alone (protocol P5.25). What was asked for last counts; anything that comes of an
/// earlier one is let go. Any thread; one lock. The old app's image comes on the thread that reads that app.
/// </summary>
internal sealed class StateHandover(CoordinatorInputs inputs)
{
    private readonly RankedLock _gate = new(LockRank.StateHandover);
    private ConvertFrame _asked;

    /// <summary>It is what was asked for, and not yet given to the new app; null: nothing is.</summary>
    private StateSpool? _spool;

    /// <summary>The number of the last question; its answer has not come while <see cref="_isOpen"/>.</summary>
    private int _number;

    private bool _isOpen;

    /// <summary>The state of <see cref="_spool"/> is whole.</summary>
    private bool _isWhole;

    /// <summary>So many questions are with the old app; it answers them in their order.</summary>
    private int _withOldApp;

    /// <summary>The thread that reads the old app: an image of it comes in; and it is let go.</summary>
    private volatile bool _isReceiving, _isLetGo;

    /// <summary>
    /// What was asked for is answered; true: by an app, which would say the same again, and not because one has died or the disk is full.
    /// Called under no lock.
    /// </summary>
    public event Action<ConvertedFrame, bool>? Answered;

    /// <summary>The old app was asked for its state, and has not sent all of it.</summary>
    public bool AwaitsOldApp { get { using (_gate.Enter()) return _isOpen && !_isWhole && (_withOldApp > 0 || _isReceiving); } }

    /// <summary>What the new app has said in this process; null: it has not come.</summary>
    private volatile NewApp? _newApp;

    /// <summary>The build of the new app; null: it has not come, or does not say.</summary>
    public BuildId? Build => _newApp?.Hello.Build;

    /// <summary>The new app waits for a state, so that it begins with the next one at once.</summary>
    public bool IsAwaited => _newApp?.Waits == true;

    /// <summary>The new app has said hello in this process.</summary>
    public bool HasCome => _newApp is not null;

    public void Came(AppHello newApp) => _newApp = new NewApp(newApp);

    /// <summary>Another new app is to come.</summary>
    public void Forget() => _newApp = null;

    /// <summary>Begins to ask; returns what the old app is to be sent.</summary>
    public ConvertFrame Begin(ConvertFrame asked)
    {
        using (_gate.Enter())
        {
            Close();
            (_asked, _isOpen, _isLetGo) = (asked, true, true);
            _number++;
            _withOldApp++;
        }
        return new ConvertFrame(asked.Position, asked.From, asked.From, ConversionUse.State);
    }

    /// <summary>Nobody wants the answer any more.</summary>
    public void Drop()
    {
        using (_gate.Enter()) Close();
    }

    // ---- the old app; the thread that reads it ----

    /// <summary>An image that begins now is the one that was asked for here.</summary>
    public bool TakesImage => _isReceiving;

    /// <summary>The old app says that its state follows, or why not.</summary>
    public void OldAppAnswers(ConvertedFrame answer)
    {
        using (_gate.Enter())
        {
            if (_withOldApp == 0) throw new ProtocolViolation("P5.25", "a state that nobody asked for");
            _withOldApp--;
            _isReceiving = answer.Why.Length == 0;
            _isLetGo = _withOldApp > 0 || !_isOpen;
        }
        if (answer.Why.Length > 0 && !_isLetGo) Fail(_number, answer.Why, byApp: true);
    }

    public void Take(ImageBegin begin) => Try(begin, static (spool, _) => { }, isFirst: true);

    public void Take(ImageEnd end)
    {
        _isReceiving = false;
        Try(end, static (spool, last) => spool.End(last));
        using (_gate.Enter()) _isWhole = !_isLetGo && _spool is not null;
    }

    public void TakeChunk(ReadOnlySpan<byte> bytes)
    {
        if (_isLetGo) return;
        try
        {
            using (_gate.Enter()) _spool?.Add(bytes);
        }
        catch (IOException e)
        {
            DropState(e);
        }
    }

    private void Try<T>(T what, Action<StateSpool, T> act, bool isFirst = false)
    {
        if (_isLetGo) return;
        try
        {
            using (_gate.Enter())
            {
                if (isFirst && what is ImageBegin begin) _spool = new StateSpool(inputs, begin);
                if (_spool is { } spool) act(spool, what);
            }
        }
        catch (IOException e)
        {
            DropState(e);
        }
    }

    private void DropState(IOException e)
    {
        _isLetGo = true;
        Fail(_number, WhyLost(e));
    }

    /// <summary>The old app's session has ended: whoever asked knows that, and asks the next one.</summary>
    public void OldAppEnded()
    {
        using (_gate.Enter())
        {
            Close();
            (_withOldApp, _isReceiving) = (0, false);
        }
    }

    // ---- the new app ----

    /// <summary>Gives the state to a session of the new app; null: none waits for it.</summary>
    public HandedState? TryGive()
    {
        using (_gate.Enter())
        {
            StateSpool? spool = _isOpen && _isWhole ? _spool : null;
            _newApp?.Waits = spool is null;
            if (spool is null) return null;
            (_spool, _isWhole) = (null, false);
            return new HandedState(spool, _asked, _number);
        }
    }

    /// <summary>The new app has converted a state, or says why it cannot.</summary>
    public void Answer(HandedState state, ConvertedFrame answer)
    {
        using (_gate.Enter())
        {
            if (!_isOpen || state.Number != _number) return;
            _isOpen = false;
        }
        LockChecks.BeforeCallOut();
        Answered?.Invoke(answer, true);
    }

    /// <summary>The new app has sent the image that it was asked for.</summary>
    public void ImageSent(HandedState state)
    {
        using (_gate.Enter())
        {
            if (state.Number == _number) _isOpen = false;
        }
    }

    /// <summary>The state that a session of the new app was being given cannot be read any more.</summary>
    public void Lost(HandedState state, IOException e) => Fail(state.Number, WhyLost(e));

    /// <summary>
    /// The file means nothing to the log, so whatever its disk says ends this question, and never the process, which may be a primary.
    /// </summary>
    private string WhyLost(IOException e) =>
        IFileSystem.IsDiskFull(e) ? $"the disk is full: {e.Message}"
            : $"{StateSpool.PathOf(inputs.Options)}, in which the state goes from the old app to the new one, has failed: {e.Message}";

    /// <summary>A session of the new app has ended, with its answer or without.</summary>
    public void NewAppEnded(HandedState state)
    {
        state.Spool.Dispose();
        Fail(state.Number, $"the app of version {state.Asked.To} ended while it converted the state; its own lines say why");
    }

    private void Fail(int number, string why, bool byApp = false)
    {
        ConvertedFrame refusal;
        using (_gate.Enter())
        {
            if (!_isOpen || number != _number) return;
            refusal = new ConvertedFrame(_asked.Position, _asked.Use, 0, 0, why);
            Close();
        }
        LockChecks.BeforeCallOut();
        Answered?.Invoke(refusal, byApp);
    }

    private void Close()
    {
        _spool?.Dispose();
        (_spool, _isOpen, _isWhole) = (null, false, false);
    }

    /// <summary>
    /// Holds what the new app has said when its session began, and whether that has looked for a state in vain. Any thread.
    /// </summary>
    private sealed class NewApp(AppHello hello)
    {
        private volatile bool _waits;

        public AppHello Hello => hello;

        public bool Waits { get => _waits; set => _waits = value; }
    }
}

/// <summary>Holds a state of the old app that a session of the new one converts.</summary>
/// <param name="Asked">The session asks for this.</param>
/// <param name="Number">It tells the questions apart.</param>
internal sealed record HandedState(StateSpool Spool, ConvertFrame Asked, int Number);
