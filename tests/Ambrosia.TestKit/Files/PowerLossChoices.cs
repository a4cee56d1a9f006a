namespace Ambrosia.TestKit;

/// <summary>
/// Every outcome of a power loss, one after another: which of the un-flushed names, lengths and blocks the device has kept. Use:
/// <c>do disk.Copy().PowerLoss(choices) … while (choices.Next())</c>, each time from the same state. A decision that rests on others is
/// asked for only where it makes a difference, so no outcome comes twice for the same reason. One thread.
/// </summary>
public sealed class PowerLossChoices
{
    /// <summary>The decisions of the current outcome, in the order in which they were asked for: what was taken, of how many.</summary>
    private readonly List<(int Taken, int Of)> made = [];
    private int asked;

    /// <summary>Outcomes so far, the current one included.</summary>
    public long Count { get; private set; } = 1;

    /// <summary>Goes to the next outcome. False: all have been.</summary>
    public bool Next()
    {
        made.RemoveRange(asked, made.Count - asked);
        asked = 0;
        while (made is [.., var last] && last.Taken + 1 == last.Of) made.RemoveAt(made.Count - 1);
        if (made.Count == 0) return false;
        made[^1] = made[^1] with { Taken = made[^1].Taken + 1 };
        Count++;
        return true;
    }

    public override string ToString() => string.Join(' ', made.Select(static each => $"{each.Taken}/{each.Of}"));

    /// <summary>One of 0 … <paramref name="of"/> − 1.</summary>
    internal int Choose(int of)
    {
        if (of == 1) return 0;
        if (asked == made.Count) made.Add((0, of));
        (int taken, int options) = made[asked++];
        return options == of ? taken
            : throw new InvalidOperationException($"decision {asked} had {options} answers and now has {of}: the state is another one");
    }
}
