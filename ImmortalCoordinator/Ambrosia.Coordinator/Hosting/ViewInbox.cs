using System.Collections.Concurrent;
using Ambrosia.Coordinator.Replica;
using Ambrosia.Coordinator.Views;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;

namespace Ambrosia.Coordinator.Hosting;

/// <summary>
/// Brings what becomes of a view from the threads that find it out to the one that looks, which waits for it. Each thing that is asked for
/// has one answer, so little waits here.
/// </summary>
/// <param name="tell">Hears what the person who looks is to know.</param>
internal sealed class ViewInbox(Action<string> tell) : IViewer
{
    private static readonly TimeSpan s_lastWordsMax = TimeSpan.FromSeconds(5);

    private readonly BlockingCollection<Answer> _answers = [];
    private readonly ManualResetEventSlim _sessionEnded = new(true);
    private string _endReason = "";

    /// <summary>Stops that nobody has asked for, while something else was waited for.</summary>
    private readonly Queue<ViewStop> _meanwhile = [];

    /// <summary>The session has begun from here, and the app has stopped in it: so it could begin from there.</summary>
    public (Lsn From, bool HasStopped) Session { get; private set; }

    /// <summary>What the app has said of itself; null: none has come.</summary>
    public AppHello? App { get; private set; }

    /// <summary>Hears from where a session begins.</summary>
    public Action<Lsn, AppHello?>? SessionBegins { get; set; }

    /// <summary>Waits for the next stop.</summary>
    /// <param name="isAsked">Whoever looks has asked for it; false: the user of the app's debugger goes on.</param>
    /// <exception cref="ViewEndedException">There will be none.</exception>
    public ViewStop AwaitStop(bool isAsked, CancellationToken stop)
    {
        while (true)
        {
            if (!isAsked && _meanwhile.TryDequeue(out ViewStop? unasked)) return unasked;
            if (Take(stop) is Answer.Stopped { At: { IsAsked: true } at } && isAsked) return at;
        }
    }

    /// <summary>Returns the stops that nobody has asked for since this was called last.</summary>
    public IReadOnlyList<ViewStop> TakeMeanwhile()
    {
        while (_answers.TryTake(out Answer? next))
        {
            Note(next);
            if (next is not Answer.Over) continue;
            _answers.Add(next); // it stays over
            break;
        }
        ViewStop[] taken = [.. _meanwhile];
        _meanwhile.Clear();
        return taken;
    }

    /// <summary>Waits for an image that was asked for.</summary>
    /// <exception cref="MisuseException">There is none at this place.</exception>
    /// <exception cref="ViewEndedException">There will be none.</exception>
    public ViewedImage AwaitImage(CancellationToken stop)
    {
        while (true)
        {
            switch (Take(stop))
            {
                case Answer.Image image: return image.Of;
                case Answer.NoImage none: throw new MisuseException($"the state cannot be shown: {none.Why}");
                case Answer.OfConversion refusal: throw new MisuseException($"the state cannot be shown: {refusal.Of.Why}");
            }
        }
    }

    /// <summary>Waits for the answer to a query that was asked.</summary>
    /// <exception cref="ViewEndedException">There will be none.</exception>
    public ViewedAnswer AwaitAnswer(CancellationToken stop)
    {
        while (true)
        {
            if (Take(stop) is Answer.OfQuery answer) return answer.Of;
        }
    }

    /// <summary>Waits for the answer to a conversion that was asked for.</summary>
    /// <exception cref="ViewEndedException">There will be none.</exception>
    public ConvertedFrame AwaitConverted(CancellationToken stop)
    {
        while (true)
        {
            if (Take(stop) is Answer.OfConversion answer) return answer.Of;
        }
    }

    /// <summary>The view is over.</summary>
    public void End(int code, string why) => _answers.Add(new Answer.Over(code, why));

    private Answer Take(CancellationToken stop)
    {
        Answer next = _answers.Take(stop);
        Note(next);
        if (next is not Answer.Over over) return next;
        _answers.Add(over, CancellationToken.None); // it stays over
        throw new ViewEndedException(over.Code, over.Why);
    }

    private void Note(Answer next)
    {
        if (next is Answer.Stopped { At: { IsAsked: false } at }) _meanwhile.Enqueue(at);
    }

    /// <summary>Returns why the session of an app has ended whose process has; empty: it had none.</summary>
    public string AwaitSessionEnd()
    {
        if (App is null) return "";
        _sessionEnded.Wait(s_lastWordsMax); // its socket is closed already, and what it has said last is on the way
        return _endReason;
    }

    void IViewer.Began(Lsn from, AppHello? app)
    {
        _sessionEnded.Reset();
        (Session, App) = ((from, false), app);
        SessionBegins?.Invoke(from, app);
    }

    void IViewer.Ended(string why)
    {
        _endReason = why;
        _sessionEnded.Set();
    }

    void IViewer.Stopped(Seen seen, bool isEnd, bool isAsked, ViewedEmissions emitted)
    {
        Session = Session with { HasStopped = true };
        _answers.Add(new Answer.Stopped(new ViewStop(seen.Place, isEnd, emitted) { IsAsked = isAsked, Times = seen.Times }));
    }

    void IViewer.Shown(ViewedImage image) => _answers.Add(new Answer.Image(image));

    void IViewer.Answered(ViewedAnswer answer) => _answers.Add(new Answer.OfQuery(answer));

    void IViewer.Converted(ConvertedFrame answer) => _answers.Add(new Answer.OfConversion(answer));

    void IViewer.NotShown(string why) => _answers.Add(new Answer.NoImage(why));

    void IViewer.Diverged(string why)
    {
        tell($"this app does not do what was done: {why}");
    }

    private abstract record Answer
    {
        public sealed record Stopped(ViewStop At) : Answer;

        public sealed record Image(ViewedImage Of) : Answer;

        public sealed record NoImage(string Why) : Answer;

        public sealed record OfQuery(ViewedAnswer Of) : Answer;

        public sealed record OfConversion(ConvertedFrame Of) : Answer;

        public sealed record Over(int Code, string Why) : Answer;
    }
}

/// <summary>
/// Pumps nothing: a view commits, checkpoints, dials and fires nothing, and its threads find by themselves what there is to do.
/// </summary>
internal sealed class ViewPumps(Action<int, string> fail) : IPumps
{
    public void Commit(bool drained) { }

    public void WaitForRoom(CancellationToken stop) => stop.WaitHandle.WaitOne(1);

    public void CheckpointWork() { }

    public void RoomForApp() { }

    public void TimersChanged() { }

    public void OutputsWait() { }

    public void Dial() { }

    public void Fail(int code, string why) => fail(code, why);
}
