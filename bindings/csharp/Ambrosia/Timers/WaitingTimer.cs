namespace Ambrosia;

/// <summary>
/// A timer of the immortal by its number, waiting for the record that says it is due. Ordinary fields, so that it is part of an image as
/// any other object. Invariant: only an armed one can fire, and only by a record of exactly its due time.
/// </summary>
internal abstract class WaitingTimer(ulong number, long dueUs) : Source<Nothing>
{
    private readonly ulong number = number;
    private long dueUs = dueUs;
    private bool isArmed = true;

    /// <summary>From 1, counted through the instance's life.</summary>
    internal ulong Number => number;

    /// <summary>µs since 1970.</summary>
    internal long DueUs => dueUs;

    internal bool IsArmed => isArmed;

    /// <summary>The record is being executed, inside the scheduler. True: it is done for good; false: it stays in the table.</summary>
    internal abstract bool Fire(ImmortalRuntime runtime);

    internal void Disarm() => isArmed = false;

    private protected void Arm(long nextDueUs) => (dueUs, isArmed) = (nextDueUs, true);
}
