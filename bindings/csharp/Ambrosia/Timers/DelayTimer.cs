namespace Ambrosia;

/// <summary>What <c>Delay</c> returns: done when its record is executed.</summary>
internal sealed class DelayTimer(ulong number, long dueUs) : WaitingTimer(number, dueUs)
{
    internal override bool Fire(ImmortalRuntime runtime)
    {
        Complete(default);
        return true;
    }
}
