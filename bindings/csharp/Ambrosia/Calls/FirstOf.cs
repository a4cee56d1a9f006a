namespace Ambrosia;

/// <summary>
/// Done when one of its parts is: the place of the first, in their order, that is done when this is resumed. It then lets go of the others,
/// so that they can be awaited again.
/// </summary>
internal sealed class FirstOf : Source<int>
{
    /// <summary>Empty once this is done.</summary>
    private Source[] parts;

    internal FirstOf(Source[] parts)
    {
        if (parts.Length == 0) throw new ArgumentException("WhenAny needs at least one call.", nameof(parts));
        this.parts = parts;
        if (TryConclude()) return;
        foreach (Source part in parts) part.AwaitedBy(this);
    }

    /// <summary>Several parts may end before this is resumed: the others find it done.</summary>
    internal override void Resume()
    {
        if (!IsDone && !TryConclude()) throw new InvalidOperationException("A WhenAny was resumed where none of its calls is done.");
    }

    private bool TryConclude()
    {
        int first = Array.FindIndex(parts, static part => part.IsDone);
        if (first < 0) return false;
        foreach (Source part in parts) part.NoLongerAwaitedBy(this);
        parts = [];
        Complete(first);
        return true;
    }
}
