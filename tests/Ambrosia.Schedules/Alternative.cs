namespace Ambrosia.Schedules;

/// <summary>One thing that may happen next: a thread takes its step, or the time of its wait is over.</summary>
public readonly record struct Alternative(int Thread, bool IsTimeout)
{
    public override string ToString() => IsTimeout ? $"{Thread}t" : $"{Thread}";
}
