namespace Ambrosia.Benchmarks.Images;

/// <summary>Builds a state of one kind.</summary>
public interface IStates
{
    void Fill(string kind, long bytes);
}

/// <summary>A struct of numbers, with a gap behind its last field.</summary>
public record struct Tick(long At, double Price, int Volume, Side Side);

/// <summary>An enum of one byte.</summary>
public enum Side : byte
{
    /// <summary>The first.</summary>
    Bid,

    /// <summary>The second.</summary>
    Ask,
}

/// <summary>An object as small as one with a reference is.</summary>
[Data]
public sealed class Link
{
    public long Number { get; set; }

    public Link? Before { get; set; }
}

/// <summary>
/// Keeps a state of about so many bytes of memory, all of one kind, which is named as the table of figures names it.
/// </summary>
public sealed partial class States : Immortal<IStatesProxy>, IStates
{
    private const int PartBytes = 1 << 20;

    private readonly List<byte[]> _arraysOfBytes = [];
    private readonly List<Tick[]> _arraysOfStructs = [];
    private readonly List<List<Tick>> _listsOfStructs = [];
    private readonly List<Dictionary<long, double>> _maps = [];
    private readonly List<HashSet<long>> _sets = [];
    private readonly Dictionary<string, Entry> _entriesByName = [];
    private readonly List<Entry> _entries = [];
    private readonly List<string> _texts = [];
    private Link? _links;

    /// <summary>The kinds, with the bytes of memory that a part of each takes, about.</summary>
    private Dictionary<string, (int Bytes, Action<int> Add)> Kinds => new()
    {
        ["byte arrays"] = (PartBytes, _ => _arraysOfBytes.Add(NewBytes())),
        ["struct arrays"] = (PartBytes, i => _arraysOfStructs.Add([.. NewTicks(i)])),
        ["struct lists"] = (PartBytes, i => _listsOfStructs.Add([.. NewTicks(i)])),
        ["number dictionaries"] = (PartBytes, i => _maps.Add(NewTicks(i).ToDictionary(static tick => tick.At, static tick => tick.Price))),
        ["number sets"] = (PartBytes / 2, i => _sets.Add([.. NewTicks(i).Select(static tick => tick.At)])),
        ["object dictionary"] = (190, i => _entriesByName.Add($"name {i}", NewEntry(i, null))),
        ["small objects"] = (104, i => _entries.Add(NewEntry(i, i == 0 ? null : _entries[i - 1]))),
        ["tiny objects"] = (32, i => _links = new Link { Number = i, Before = _links }),
        ["texts"] = (72, i => _texts.Add($"a text of the number {i}")),
    };

    /// <summary>The names of the kinds.</summary>
    internal static readonly string[] KindNames =
    [
        "byte arrays", "struct arrays", "struct lists", "number dictionaries", "number sets", "object dictionary", "small objects",
        "tiny objects", "texts",
    ];

    public void Fill(string kind, long bytes)
    {
        (int each, Action<int> add) = Kinds[kind];
        for (int i = 0; (long)i * each < bytes; i++) add(i);
    }

    private static byte[] NewBytes()
    {
        byte[] bytes = new byte[PartBytes];
        new Random(PartBytes).NextBytes(bytes);
        return bytes;
    }

    private static IEnumerable<Tick> NewTicks(int part)
    {
        const int Ticks = PartBytes / 24;
        return Enumerable.Range(0, Ticks).Select(i => new Tick((long)part * Ticks + i, i * 1.5, i, Side.Ask));
    }

    private static Entry NewEntry(int number, Entry? before) => new() { Text = $"entry {number}", Number = number, Before = before };
}
