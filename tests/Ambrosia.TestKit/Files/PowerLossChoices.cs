namespace Ambrosia.TestKit;

/// <summary>
/// Every outcome of a power loss, one after another: which of the un-flushed names, lengths and blocks the device has kept. Use:
/// <c>do disk.Copy().PowerLoss(choices) … while (choices.Next())</c>, each time from the same state. A decision that rests on others is
/// asked for only where it makes a difference, so no outcome comes twice for the same reason. One thread.
/// </summary>
public sealed class PowerLossChoices
{
    /// <summary>The decisions of the current outcome, in the order in which they were asked for: what was taken, of how many.</summary>
    private readonly List<(int Taken, int Of)> _made = [];
    private int _asked;

    /// <summary>Outcomes so far, the current one included.</summary>
    public long Count { get; private set; } = 1;

    /// <summary>Goes to the next outcome. False: all have been.</summary>
    public bool Next()
    {
        _made.RemoveRange(_asked, _made.Count - _asked);
        _asked = 0;
        while (_made is [.., var last] && last.Taken + 1 == last.Of) _made.RemoveAt(_made.Count - 1);
        if (_made.Count == 0) return false;
        _made[^1] = _made[^1] with { Taken = _made[^1].Taken + 1 };
        Count++;
        return true;
    }

    public override string ToString() => string.Join(' ', _made.Select(static each => $"{each.Taken}/{each.Of}"));

    /// <summary>One of 0 … <paramref name="of"/> − 1.</summary>
    internal int Choose(int of)
    {
        if (of == 1) return 0;
        if (_asked == _made.Count) _made.Add((0, of));
        (int taken, int options) = _made[_asked++];
        return options == of ? taken
            : throw new InvalidOperationException($"decision {_asked} had {options} answers and now has {of}: the state is another one");
    }
}
