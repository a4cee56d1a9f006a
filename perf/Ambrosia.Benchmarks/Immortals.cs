namespace Ambrosia.Benchmarks;

/// <summary>Takes small messages.</summary>
public interface ISink
{
    void Bytes(ReadOnlySpan<byte> payload);

    void Numbers(long a, long b);
}

/// <summary>Makes small messages.</summary>
public interface IFountain
{
    void Spray(int count);
}

/// <summary>Counts what it gets.</summary>
public sealed partial class Sink : Immortal<ISinkProxy>, ISink
{
    private long _total;

    public void Bytes(ReadOnlySpan<byte> payload) => _total += payload.Length;

    public void Numbers(long a, long b) => _total += a + b;
}

/// <summary>Sends as many forks as it is told.</summary>
public sealed partial class Fountain : Immortal<IFountainProxy>, IFountain
{
    private readonly ISinkProxy _sink;

    public Fountain() => _sink = GetProxy<ISink>("sink");

    public void Spray(int count)
    {
        for (int i = 0; i < count; i++) _sink.NumbersFork(i, 1_000_000 + i);
    }
}

/// <summary>Keeps many small objects.</summary>
public interface IArchive
{
    void Fill(int count);
}

/// <summary>One of them.</summary>
[Data]
public sealed class Entry
{
    public string Text { get; set; } = "";

    public long Number { get; set; }

    public Entry? Before { get; set; }
}

/// <summary>A state that is worth a checkpoint.</summary>
public sealed partial class Archive : Immortal<IArchiveProxy>, IArchive
{
    private readonly List<Entry> _entries = [];

    public void Fill(int count)
    {
        for (int i = 0; i < count; i++) _entries.Add(new Entry { Text = $"entry {i}", Number = i, Before = i == 0 ? null : _entries[i - 1] });
    }
}

/// <summary>Answers.</summary>
public interface IOracle
{
    long Get(long what);
}

/// <summary>Asks and waits.</summary>
public interface IAsker
{
    Call Ask(long number);

    void Begin(int count);
}

/// <summary>Each handler keeps a few locals over its await, one of them an object of the state.</summary>
public sealed partial class Asker : Immortal<IAskerProxy>, IAsker
{
    private readonly List<long> _answers = [];
    private readonly IOracleProxy _oracle;
    private long _total;

    public Asker() => _oracle = GetProxy<IOracle>(SessionRig.Peer);

    public void Begin(int count)
    {
        for (int i = 0; i < count; i++) _ = One(i);
    }

    private async Call One(long number) => _total += await _oracle.GetAsync(number);

    public async Call Ask(long number)
    {
        List<long> mine = _answers;
        long sum = number * 2;
        for (int i = 0; i < 2; i++) sum += await _oracle.GetAsync(sum + i);
        mine.Add(sum);
    }
}
