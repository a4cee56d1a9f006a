namespace Ambrosia.Simulation;

/// <summary>
/// Numbers the faults of a world, from 1, in the order in which they come. Where some were chosen the others are drawn as well and do not
/// happen, so that a world that fails can be run again with fewer and fewer of them.
/// </summary>
/// <param name="chosen">Says which of them happen; null: all do.</param>
internal sealed class Strikes(FaultChoice? chosen)
{
    private readonly List<string> _all = [];

    /// <summary>How many came, those that were left out among them.</summary>
    public int Count => _all.Count;

    /// <summary>What each was; the first has number 1.</summary>
    public IReadOnlyList<string> All => _all;

    /// <summary>A fault comes; false: it is left out.</summary>
    public bool Strike(string what)
    {
        _all.Add(what);
        return chosen?.Has(_all.Count) ?? true;
    }
}

/// <summary>Which faults of a world happen, by their numbers.</summary>
internal sealed class FaultChoice
{
    private readonly SortedSet<int> _numbers;
    private readonly bool _isWithout;

    private FaultChoice(IEnumerable<int> numbers, bool isWithout) => (_numbers, _isWithout) = (new SortedSet<int>(numbers), isWithout);

    public static FaultChoice Only(IEnumerable<int> numbers) => new(numbers, isWithout: false);

    public static FaultChoice Without(IEnumerable<int> numbers) => new(numbers, isWithout: true);

    public bool Has(int number) => _numbers.Contains(number) != _isWithout;

    /// <summary>Reads numbers and ranges, such as 3,7-9; an empty text is none.</summary>
    public static IEnumerable<int> Read(string text) =>
        text.Split(',', StringSplitOptions.RemoveEmptyEntries | StringSplitOptions.TrimEntries).SelectMany(static part =>
            part.Split('-') is [var from, var to]
                ? Enumerable.Range(int.Parse(from, Culture), int.Parse(to, Culture) - int.Parse(from, Culture) + 1)
                : [int.Parse(part, Culture)]);

    /// <summary>Writes what <see cref="Read"/> reads.</summary>
    public static string Write(IEnumerable<int> numbers) => string.Join(',', numbers);

    private static System.Globalization.CultureInfo Culture => System.Globalization.CultureInfo.InvariantCulture;
}
