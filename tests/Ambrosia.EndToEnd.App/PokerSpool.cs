using System.Globalization;

namespace Ambrosia.EndToEnd.App;

/// <summary>
/// The world outside of one sender, which outlives its process: a file with a line for each impulse before it is sent and a word for what
/// was told of it. With keys the file is one for all processes, and an impulse that was not acknowledged is sent again by the next one, as
/// who holds the key would. Each line is one write, so kill -9 loses none.
/// </summary>
internal sealed class PokerSpool : IDisposable
{
    private readonly StreamWriter _file;
    private readonly string _name;
    private ulong _number;

    internal PokerSpool(string directory, string sender, bool isKeyed)
    {
        _name = isKeyed ? sender
            : string.Create(CultureInfo.InvariantCulture, $"{sender}-{Environment.ProcessId}-{Environment.TickCount64}");
        string path = Path.Combine(directory, isKeyed ? _name + ".keyed" : _name);
        if (File.Exists(path)) _number = (ulong)File.ReadLines(path).Count(static line => line == "acknowledged");
        _file = new StreamWriter(path, append: true) { AutoFlush = true };
    }

    internal string Next()
    {
        string id = string.Create(CultureInfo.InvariantCulture, $"{_name}-{++_number}");
        _file.WriteLine($"id {id}");
        return id;
    }

    internal void WriteLine(string outcome) => _file.WriteLine(outcome);

    public void Dispose() => _file.Dispose();
}
