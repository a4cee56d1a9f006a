using System.Runtime.CompilerServices;
using System.Runtime.ExceptionServices;
using Ambrosia.Calls;
using Ambrosia.State;

namespace Ambrosia;

/// <summary>
/// A source is something that a handler can wait for: a suspended method (Frame), an outstanding call (PendingCall), a join of several
/// (JoinAll). Sources are ordinary objects with ordinary fields and no delegates, so that an image holds them like any other object.
/// Thread: the scheduler's. Invariant: a source has at most one waiter, and the scheduler's ready queue resumes that waiter exactly once.
/// </summary>
internal abstract class Source : IImagePart
{
    private Source? _waiter;

    /// <summary>True once it is done, for ever; <see cref="Error"/> or the value is final then.</summary>
    private bool _done;
    private Exception? _error;

    /// <summary>Somebody has looked at the failure, or waits for it, or has given it up.</summary>
    [NotState]
    private bool _isHeard;

    internal bool IsDone => _done;

    /// <summary>The failure; null: there is none. Whoever asks has heard of it.</summary>
    internal Exception? Error
    {
        get
        {
            if (_error is not null) _isHeard = true;
            return _error;
        }
    }

    internal bool IsHeard => _isHeard;

    /// <summary>It names what was waited for, for people.</summary>
    internal virtual string Place => "A method that failed before it waited";

    /// <summary>The source that waits for this one; null: nobody yet, or it is done.</summary>
    internal Source? Waiter => _waiter;

    /// <summary>Goes on: the scheduler calls it when what this object waited for is done.</summary>
    internal virtual void Resume() => throw new InvalidOperationException($"{GetType()} waits for nothing.");

    /// <summary>Lets the scheduler resume <paramref name="next"/> when this is done; it must not be called once it is.</summary>
    internal virtual void AwaitedBy(Source next)
    {
        if (_waiter is not null) throw new BindingMisuseException(Misuse.CallAwaitedTwice);
        _waiter = next;
    }

    /// <summary>Takes back <see cref="AwaitedBy"/>: somebody else may wait for this then.</summary>
    internal void NoLongerAwaitedBy(Source next)
    {
        if (ReferenceEquals(_waiter, next)) _waiter = null;
    }

    /// <summary>
    /// Ends the wait because the only one who waited for this was told otherwise. A call has been sent and goes on; what exists only to be
    /// waited for, a timer, ends here, and who awaits it all the same gets the reason.
    /// </summary>
    internal virtual void GiveUp(Exception why)
    {
    }

    internal void Fail(Exception failure)
    {
        if (_done) throw new InvalidOperationException("A call was completed twice.");
        _error = failure;
        bool isAwaited = _isHeard |= _waiter is not null;
        Finish();
        if (!isAwaited) Scheduler.FailedUnawaited(this);
    }

    /// <summary>Fails this because it was given up: the one who did that knows.</summary>
    private protected void FailGivenUp(Exception why)
    {
        _isHeard = true;
        Fail(why);
    }

    private protected void Finish()
    {
        _done = true;
        if (_waiter is null) return;
        Source next = _waiter;
        _waiter = null;
        Scheduler.Current.MakeReady(next);
    }

    private protected static InvalidOperationException NotDone() =>
        Scheduler.IsAnyExecuting || !Scheduler.IsAnyOfTest ? new BindingMisuseException(Misuse.CallNotAwaited)
        : ForeignAwait.UnfinishedInTest();

    [MethodImpl(MethodImplOptions.NoInlining)]
    private protected void ThrowError() => ExceptionDispatchInfo.Throw(Error!);
}

/// <summary>A <see cref="Source"/> with a value. The value is there when the source is done.</summary>
internal class Source<T> : Source
{
    private T _value = default!;

    internal Source()
    {
    }

    /// <summary>Makes one that is done from the beginning: a part of a join that never suspended.</summary>
    internal Source(T value) => Complete(value);

    internal void Complete(T result)
    {
        if (IsDone) throw new InvalidOperationException("A call was completed twice.");
        _value = result;
        Finish();
    }

    /// <summary>Gives the value, or throws the failure.</summary>
    internal virtual T Take()
    {
        if (!IsDone) throw NotDone();
        if (Error is not null) ThrowError();
        return _value;
    }
}

/// <summary>
/// Stands for the value of a <see cref="Call"/>, which has none. So calls with and without a value share their machinery.
/// </summary>
internal readonly struct Nothing;
