namespace Ambrosia.TestKit;

/// <summary>
/// A running hash over everything that happened in a simulation: two runs of one seed must end with the same hash, else something outside
/// the seams (a clock, a hash order, a thread) has leaked in. It keeps the last events as text and, for the first
/// <see cref="MarksMax"/> events, the hash after each, so that the first difference of two runs is found. One thread.
/// </summary>
public sealed class SimulationTrace(int tailMax = 50)
{
    /// <summary>Events whose hash is kept: 8 MiB.</summary>
    public const int MarksMax = 1 << 20;

    private const ulong FnvOffset = 0xCBF29CE484222325;
    private const ulong FnvPrime = 0x100000001B3;

    private readonly Queue<string> _tail = new();
    private readonly List<ulong> _marks = [];

    public ulong Hash { get; private set; } = FnvOffset;

    public long Count { get; private set; }

    /// <summary>
    /// The hash of what happened apart from what was said: the same for two builds that take the same steps and word their lines
    /// differently.
    /// </summary>
    public ulong StepHash { get; private set; } = FnvOffset;

    /// <summary>Adds a number that a step depends on, or comes to, to <see cref="StepHash"/>.</summary>
    public void AddStep(ulong value) => StepHash = (StepHash ^ value) * FnvPrime;

    /// <summary>The last events, oldest first.</summary>
    public IReadOnlyCollection<string> Tail => _tail;

    /// <summary>Adds an event; all that distinguishes it must be in the text.</summary>
    public void Add(string what)
    {
        ulong hash = Hash;
        foreach (char c in what) hash = (hash ^ c) * FnvPrime;
        // The end of each event counts, so that "ab" and "a", "b" differ.
        Hash = (hash ^ 0x1FFFF) * FnvPrime;
        Count++;
        if (_marks.Count < MarksMax) _marks.Add(Hash);
        _tail.Enqueue(what);
        if (_tail.Count > tailMax) _tail.Dequeue();
    }

    public void Add(FileOperation operation) => Add(operation.ToString());

    /// <summary>
    /// Index from 0 of the first event in which the two differ; null when they are equal, <see cref="MarksMax"/> or the shorter length when
    /// the difference lies behind what was kept.
    /// </summary>
    public long? FirstDifference(SimulationTrace other)
    {
        if (Hash == other.Hash && Count == other.Count) return null;
        int low = 0, high = Math.Min(_marks.Count, other._marks.Count);
        while (low < high)
        {
            int middle = (low + high) / 2;
            if (_marks[middle] == other._marks[middle]) low = middle + 1;
            else high = middle;
        }

        return low;
    }

    public override string ToString() => $"{Count} events, hash {Hash:x16}";
}
