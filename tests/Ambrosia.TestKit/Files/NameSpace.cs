namespace Ambrosia.TestKit;

/// <summary>
/// The names of a simulated disk. Invariant: <see cref="Visible"/> is what <c>durable</c> becomes when every operation of <c>pending</c> is
/// applied in order.
/// </summary>
internal sealed class NameSpace
{
    private readonly List<NameOperation> _pending = [];
    private NameImage _durable = new();

    public NameImage Visible { get; private set; } = new();

    /// <summary>Changes what programs see; the device follows when the directory is flushed, or earlier, as it pleases.</summary>
    public void Do(NameOperation operation)
    {
        if (!operation.TryApply(Visible)) throw new InvalidOperationException($"checked before it was done: {operation}");
        _pending.Add(operation);
    }

    /// <summary>Makes the directory's operations durable, with those of the directories that a rename ties to it.</summary>
    public void Flush(string directory) => Settle(directory, int.MaxValue);

    /// <summary>A flush that reports an error: it got as far as it got.</summary>
    public void FailFlush(string directory, SimulatedRandom random) => Settle(directory, random.Next(_pending.Count + 1));

    /// <summary>Keeps a prefix of the pending operations, or any subset that makes sense, and forgets the rest.</summary>
    public void LosePower(SimulatedRandom random, int keepPercent, bool ordered)
    {
        int prefix = keepPercent switch
        {
            0 => 0,
            100 => _pending.Count,
            _ => random.Next(_pending.Count + 1),
        };
        for (int i = 0; i < _pending.Count; i++)
        {
            if (ordered ? i < prefix : random.Chance(keepPercent)) _pending[i].TryApply(_durable);
        }

        Forget();
    }

    /// <summary>Keeps any subset that makes sense.</summary>
    public void LosePower(PowerLossChoices choices)
    {
        foreach (NameOperation operation in _pending)
            if (choices.Choose(2) == 1) operation.TryApply(_durable);
        Forget();
    }

    private void Forget()
    {
        _pending.Clear();
        _durable.DropUnreachable();
        Visible = _durable.Copy(static inode => inode);
    }

    public NameSpace Copy(Func<Inode, Inode> map)
    {
        var copy = new NameSpace { _durable = _durable.Copy(map), Visible = Visible.Copy(map) };
        copy._pending.AddRange(_pending.Select(operation => operation with { Inode = operation.Inode is { } inode ? map(inode) : null }));
        return copy;
    }

    private void Settle(string directory, int countMax)
    {
        HashSet<string> tied = TiedTo(directory);
        List<NameOperation> rest = [];
        foreach (NameOperation operation in _pending)
        {
            bool chosen = countMax > 0 && operation.Directories.Any(tied.Contains);
            if (chosen) countMax--;
            if (!chosen) rest.Add(operation);
            else if (!operation.TryApply(_durable)) throw new InvalidOperationException($"the device's names went another way: {operation}");
        }

        _pending.Clear();
        _pending.AddRange(rest);
    }

    private HashSet<string> TiedTo(string directory)
    {
        HashSet<string> tied = [directory];
        int before;
        do
        {
            before = tied.Count;
            foreach (NameOperation operation in _pending)
            {
                if (operation.Directories.Any(tied.Contains)) tied.UnionWith(operation.Directories);
            }
        }
        while (tied.Count > before);
        return tied;
    }
}
