using System.Collections.Concurrent;
using System.Collections.Immutable;
using System.Diagnostics;
using System.Globalization;
using System.Security.Cryptography;

namespace Ambrosia.EndToEnd.App;

/// <summary>Does what handlers may not do, one mistake by its name, and lets a call, an answer or the state show what came of it.</summary>
public interface IErratic
{
    /// <summary>Tells itself.</summary>
    void Call(string mistake);

    void Told(string mistake, string outcome);

    string Answer(string mistake);

    void Keep(string mistake);
}

/// <summary>
/// Its code is not deterministic, and the analyzers are off for it (.editorconfig): what is wrong is found when it runs. Each mistake gives
/// something else in another process.
/// </summary>
public sealed partial class Erratic : Immortal<IErraticProxy>, IErratic
{
    private static readonly string[] s_words = [.. Enumerable.Range(0, 64).Select(static each => $"word {each}")];
    private static readonly string s_own = $"{Environment.ProcessId}";
    private static readonly AsyncLocal<string?> s_ambient = new();
    [ThreadStatic] private static string? s_ofThread;

    private static readonly Dictionary<string, Func<string>> s_mistakes = new()
    {
        ["clock"] = static () => $"{DateTime.UtcNow.Ticks}",
        ["stopwatch"] = static () => $"{Stopwatch.GetTimestamp()}",
        ["time of the system"] = static () => $"{TimeProvider.System.GetTimestamp()}",
        ["shared random"] = static () => $"{Random.Shared.NextInt64()}",
        ["new random"] = static () => $"{new Random().NextInt64()}",
        ["secret"] = static () => Convert.ToHexString(RandomNumberGenerator.GetBytes(8)),
        ["guid"] = static () => $"{Guid.NewGuid()}",
        ["task"] = static () => Task.Run(static () => $"{Stopwatch.GetTimestamp()}").GetAwaiter().GetResult(),
        ["thread"] = OnAThread,
        ["race"] = Race,
        ["file"] = static () => File.ReadAllText("/proc/self/stat"),
        ["environment"] = static () => $"{Environment.ProcessId}",
        ["variable"] = static () => Environment.GetEnvironmentVariable("POINT") ?? "none",
        ["static"] = static () => s_own,
        ["ambient"] = static () => s_ambient.Value ??= s_own,
        ["thread static"] = static () => s_ofThread ??= s_own,
        ["order of hashes"] = static () => string.Join(' ', ImmutableHashSet.Create(s_words)),
        ["hash of a text"] = static () => $"{"word".GetHashCode(StringComparison.Ordinal)}",
        ["combined hash"] = static () => $"{HashCode.Combine(1, 2)}",
        ["culture"] = static () => 1.5.ToString(CultureInfo.CurrentCulture),
    };

    private readonly Dictionary<string, string> _kept = [];

    static Erratic()
    {
        var culture = (CultureInfo)CultureInfo.InvariantCulture.Clone();
        culture.NumberFormat.NumberDecimalSeparator = Environment.GetEnvironmentVariable("POINT") ?? ".";
        CultureInfo.DefaultThreadCurrentCulture = culture;
    }

    /// <summary>An answer that is another one once, and never again.</summary>
    public const string Once = "once";

    /// <summary>The names of its mistakes.</summary>
    public static IEnumerable<string> Mistakes => s_mistakes.Keys;

    public void Call(string mistake) => thisProxy.ToldFork(mistake, Outcome(mistake));

    public void Told(string mistake, string outcome)
    {
    }

    public string Answer(string mistake) => mistake == Once ? First() : Outcome(mistake);

    public void Keep(string mistake) => _kept[mistake] = Outcome(mistake);

    /// <summary>Two that execute side by side may read their clocks at one instant, so one of them can be told to be late (ms).</summary>
    private static string Outcome(string mistake)
    {
        if (Environment.GetEnvironmentVariable("LATE") is { } late) Thread.Sleep(int.Parse(late, CultureInfo.InvariantCulture));
        return s_mistakes[mistake]();
    }

    /// <summary>Is the first time another one than it is behind that, in all processes that are told the same file.</summary>
    private static string First()
    {
        if (Environment.GetEnvironmentVariable("ONCE") is not { } file || File.Exists(file)) return "as ever";
        File.WriteAllText(file, "");
        return "the first time";
    }

    private static string OnAThread()
    {
        string outcome = "";
        var thread = new Thread(() => outcome = $"{Stopwatch.GetTimestamp()}");
        thread.Start();
        thread.Join();
        return outcome;
    }

    /// <summary>The order in which threads come first.</summary>
    private static string Race()
    {
        var order = new ConcurrentQueue<long>();
        Parallel.For(0, 64, each => order.Enqueue(each * 1_000_000 + Stopwatch.GetTimestamp() % 1_000_000));
        return string.Join(' ', order);
    }
}
