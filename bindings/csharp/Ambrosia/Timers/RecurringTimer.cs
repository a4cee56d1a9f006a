using System.Reflection;
using System.Runtime.CompilerServices;
using Ambrosia.Failures;
using Ambrosia.Timers;

namespace Ambrosia;

/// <summary>A periodic timer of an immortal. It may be kept in the state; only handlers may use it.</summary>
public readonly struct RecurringTimer
{
    private readonly Recurrence? _recurrence;

    internal RecurringTimer(Recurrence recurrence) => _recurrence = recurrence;

    /// <summary>True while it runs; false if it was stopped, or is the default value.</summary>
    public bool IsRunning => _recurrence is { IsStopped: false };

    /// <summary>Stops it: its handler is not called again, and one that is suspended goes on. A second time has no effect.</summary>
    /// <exception cref="InvalidOperationException">It runs, and no handler runs on this thread.</exception>
    public void Stop() => _recurrence?.Stop();
}

/// <summary>
/// A timer that calls a method of the immortal again and again. It keeps the method by name, so that the timer outlives processes,
/// checkpoints and builds. Thread: the scheduler's. Invariant: it is armed, or its handler runs, or it is stopped.
/// </summary>
internal sealed class Recurrence(ulong number, long dueUs, long periodUs, string declaringType, string method) : WaitingTimer(number, dueUs)
{
    private const BindingFlags Instance = BindingFlags.Instance | BindingFlags.Public | BindingFlags.NonPublic | BindingFlags.DeclaredOnly;

    private readonly long _periodUs = periodUs;
    private readonly string _declaringType = declaringType;
    private readonly string _method = method;
    private bool _isStopped;

    /// <summary>The handler that has not finished yet; null: none runs.</summary>
    private Source? _running;

    [NotState]
    private OutstandingTimers? _timers;

    [NotState]
    private Delegate? _handler;

    internal bool IsStopped => _isStopped;

    internal string Method => _method;

    /// <exception cref="ArgumentException">The handler is not a method of the immortal.</exception>
    internal static Recurrence Of(OutstandingTimers timers, ulong number, long dueUs, long periodUs, Delegate handler)
    {
        MethodInfo method = handler.Method;
        bool isOwn = handler.HasSingleTarget && handler.Target is ITimerOwner owner && ReferenceEquals(owner.Timers, timers);
        if (!isOwn || method.IsGenericMethod || method.IsDefined(typeof(CompilerGeneratedAttribute), inherit: false)
            || method.Name.Contains('<'))
            throw new MisusedArgumentException(Misuse.TimerHandler, method.Name);
        return new Recurrence(number, dueUs, periodUs, method.DeclaringType!.FullName!, method.Name)
        {
            _timers = timers, _handler = handler
        };
    }

    internal override bool Fire(OutstandingTimers timers)
    {
        Disarm();
        try
        {
            Source? call = Handler() switch
            {
                Func<Call> handler => handler().Source,
                Delegate handler => CallNow((Action)handler),
            };
            if (call is { IsDone: false })
            {
                _running = call;
                call.AwaitedBy(this);
                return false;
            }
            if (call?.Error is { } failure) timers.HandlerFailed(Name, failure);
        }
        catch (Exception e) when (HandlerFailure.Is(e))
        {
            timers.HandlerFailed(Name, e);
        }
        GoOn(timers);
        return _isStopped;
    }

    /// <summary>Goes on when the handler, which was suspended, has finished.</summary>
    internal override void Resume()
    {
        OutstandingTimers timers = _timers ?? throw new InvalidOperationException("A periodic timer without a session.");
        if (_running?.Error is { } failure) timers.HandlerFailed(Name, failure);
        _running = null;
        GoOn(timers);
        if (_isStopped) timers.Cancel(this);
    }

    /// <summary>Gives a restored timer its session's table.</summary>
    /// <exception cref="InvalidDataException">The app has no such method any more.</exception>
    internal void Attach(OutstandingTimers restoredIn)
    {
        _timers = restoredIn;
        Handler();
    }

    /// <summary>
    /// Stops it. While its handler is suspended it stays in the table, which an image restores with its session; otherwise nothing knows it
    /// any more but the state, and a restored one has no session.
    /// </summary>
    internal void Stop()
    {
        if (_isStopped) return;
        OutstandingTimers timers = _timers ?? throw new InvalidOperationException("A periodic timer without a session.");
        timers.Context.CheckEffect("ends a timer");
        _isStopped = true;
        if (_running is null) timers.Cancel(this);
    }

    private string Name => $"{_declaringType}.{_method}";

    /// <summary>
    /// Sets the timer for the next period from now. Periods that passed while nobody was primary, or while the handler ran, are not made up
    /// for.
    /// </summary>
    private void GoOn(OutstandingTimers timers)
    {
        if (_isStopped) return;
        long late = Math.Max(0, timers.Context.NowUs - DueUs);
        Arm(DueUs + (late / _periodUs + 1) * _periodUs);
        timers.Armed(this);
    }

    private Delegate Handler() => _handler ??= Bind(_timers!.Owner);

    private Delegate Bind(object immortal)
    {
        MethodInfo? found = null;
        for (Type? type = immortal.GetType(); type is not null && found?.DeclaringType?.FullName != _declaringType; type = type.BaseType)
            if (type.GetMethod(_method, Instance, []) is { } here && (found is null || type.FullName == _declaringType)) found = here;
        if (found?.ReturnType == typeof(Call)) return found.CreateDelegate<Func<Call>>(immortal);
        if (found?.ReturnType == typeof(void)) return found.CreateDelegate<Action>(immortal);
        throw new InvalidDataException($"The image holds a periodic timer of {Name}(), which this app does not have.");
    }

    private static Source? CallNow(Action handler)
    {
        handler();
        return null;
    }
}
