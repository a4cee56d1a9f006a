namespace Ambrosia;

/// <summary>A periodic timer of an immortal. It may be kept in the state; handlers only.</summary>
public readonly struct RecurringTimer
{
    private readonly Recurrence? recurrence;

    internal RecurringTimer(Recurrence recurrence) => this.recurrence = recurrence;

    /// <summary>False: it was stopped, or is the default value.</summary>
    public bool IsRunning => recurrence is { IsStopped: false };

    /// <summary>Its handler is not called again; one that is suspended goes on. Has no effect the second time.</summary>
    /// <exception cref="InvalidOperationException">No handler runs on this thread.</exception>
    public void Stop() => recurrence?.Stop();
}
