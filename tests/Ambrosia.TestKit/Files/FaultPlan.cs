namespace Ambrosia.TestKit;

/// <summary>
/// The faults that a disk is to report. Owned by its <see cref="SimulatedFileSystem"/>; rules are consulted in the order in which they
/// were added and the first that applies decides. The classic loop is: fail operation 1, 2, 3, … until a run ends with
/// <see cref="Fired"/> still 0.
/// </summary>
public sealed class FaultPlan
{
    private readonly List<Rule> _rules = [];

    /// <summary>Operations that were made to fail so far.</summary>
    public long Fired { get; private set; }

    /// <summary>Hears of each operation that was made to fail; null: it is not asked for.</summary>
    public Action<FileOperation>? Fires { get; set; }

    /// <summary>
    /// Fails the <paramref name="nth"/> operation from now on that <paramref name="where"/> accepts (null: every operation), once, or
    /// it and all later ones that it accepts when <paramref name="forGood"/>.
    /// </summary>
    /// <exception cref="ArgumentOutOfRangeException"><paramref name="nth"/> is below 1.</exception>
    public void FailNth(long nth, FileFault fault, bool forGood = false, Func<FileOperation, bool>? where = null)
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(nth, 1);
        _rules.Add(new Rule(fault, forGood, where ?? (static _ => true)) { Left = nth });
    }

    /// <summary>The device works again; what was lost stays lost.</summary>
    public void Clear() => _rules.Clear();

    internal FileFault? Of(FileOperation operation)
    {
        FileFault? found = null;
        foreach (Rule rule in _rules)
        {
            if (!rule.Accepts(operation) || found is not null) continue;
            found = rule.Fault;
            Fired++;
            Fires?.Invoke(operation);
        }

        return found;
    }

    internal FaultPlan Copy()
    {
        var copy = new FaultPlan { Fired = Fired };
        copy._rules.AddRange(_rules.Select(static rule => rule.Copy()));
        return copy;
    }

    private sealed class Rule(FileFault fault, bool forGood, Func<FileOperation, bool> where)
    {
        /// <summary>Operations until it fires; 0: it fires at each one from now on; below: it never fires again.</summary>
        public long Left { get; set; }

        public FileFault Fault => fault;

        public bool Accepts(FileOperation operation)
        {
            if (Left < 0 || !where(operation)) return false;
            if (Left > 0 && --Left > 0) return false;
            if (!forGood) Left = -1;
            return true;
        }

        public Rule Copy() => new(fault, forGood, where) { Left = Left };
    }
}
