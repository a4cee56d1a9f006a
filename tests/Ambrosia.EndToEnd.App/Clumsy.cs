namespace Ambrosia.EndToEnd.App;

/// <summary>Fails in many ways, mostly in the framework's words, and keeps what it is told of its own failures.</summary>
public sealed partial class Clumsy : Immortal<IClumsyProxy>, IClumsy
{
    private static readonly Action[] s_ways =
    [
        static () => _ = new Dictionary<string, int>()["bob"],
        static () => _ = Array.Empty<int>().First(),
        static () => _ = int.Parse("x", System.Globalization.CultureInfo.InvariantCulture),
        static () => _ = new List<int>()[3],
        static () => ArgumentNullException.ThrowIfNull(Environment.GetEnvironmentVariable("no such variable")),
        static () => Task.WaitAll(Task.FromException(new InvalidOperationException("one")), Task.FromException(new TimeoutException())),
        static () => File.ReadAllText("/no/such/file"),
        static () => new MemoryStream([], writable: false).WriteByte(1),
        static () => throw new Tired(),
        static () => throw new ArgumentException("too much", "cents"),
        static () => throw new ArgumentOutOfRangeException("cents", 5, "far too much"),
        static () => throw new ObjectDisposedException("account", "closed"),
        static () => throw new InvalidOperationException("not enough", new KeyNotFoundException()),
    ];

    private readonly List<string> _told = [];
    private ulong _filled;

    /// <summary>The number of ways in which it fails.</summary>
    public static int Ways => s_ways.Length;

    public int Fail(int way)
    {
        s_ways[way]();
        return way;
    }

    public async Call<string> Ask(int way)
    {
        try
        {
            await thisProxy.FailAsync(way);
        }
        catch (RemoteCallException e)
        {
            _told.Add($"{e.TypeName}: {e.Message}{(e.InnerException is { } inner ? $" ({inner.Message})" : "")}");
        }
        return _told[^1];
    }

    public void Trip(int way) => s_ways[way]();

    public void Fill(ReadOnlyMemory<byte> bytes) => _filled += (ulong)bytes.Length;

    private sealed class Tired : Exception;
}
