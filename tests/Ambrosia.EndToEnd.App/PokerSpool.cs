using System.Globalization;

namespace Ambrosia.EndToEnd.App;

/// <summary>
/// The world outside of one sender, which outlives its process: a file with a line for each impulse before it is sent and a word for what
/// was told of it. With keys the file is one for all processes, and an impulse that was not acknowledged is sent again by the next one, as
/// who holds the key would. Each line is one write, so kill -9 loses none.
/// </summary>
internal sealed class PokerSpool : IDisposable
{
    private readonly StreamWriter file;
    private readonly string name;
    private ulong number;

    internal PokerSpool(string directory, string sender, bool isKeyed)
    {
        name = isKeyed ? sender
            : string.Create(CultureInfo.InvariantCulture, $"{sender}-{Environment.ProcessId}-{Environment.TickCount64}");
        string path = Path.Combine(directory, isKeyed ? name + ".keyed" : name);
        if (File.Exists(path)) number = (ulong)File.ReadLines(path).Count(static line => line == "acknowledged");
        file = new StreamWriter(path, append: true) { AutoFlush = true };
    }

    internal string Next()
    {
        string id = string.Create(CultureInfo.InvariantCulture, $"{name}-{++number}");
        file.WriteLine($"id {id}");
        return id;
    }

    internal void Say(string outcome) => file.WriteLine(outcome);

    public void Dispose() => file.Dispose();
}
