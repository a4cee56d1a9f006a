using System.Buffers;
using System.Collections.Concurrent;
using System.Text;
using Ambrosia.Coordinator.Replica;
using Ambrosia.Inspection.Debugging;
using Ambrosia.Log.Files;
using Ambrosia.Pumps;

namespace Ambrosia;

/// <summary>
/// An immortal of this process as it was at some place of its log, for a test or a debugger: it has executed what is recorded up to there,
/// and nothing of what it does gets out. One thread asks; the immortal runs on a thread of its own, which stands still meanwhile.
/// </summary>
/// <typeparam name="TImmortal">Its class.</typeparam>
public sealed class ReplayedImmortal<TImmortal> : IDisposable
    where TImmortal : Immortal, IImmortal<TImmortal>
{
    private readonly DebugSession _session;
    private readonly AppHost _app;
    private readonly ConcurrentQueue<string> _lines = new();

    /// <exception cref="MisuseException">There is no such log, checkpoint or place; the message says which is near.</exception>
    internal ReplayedImmortal(string directory, string until, string? checkpoint)
    {
        var options = new DebugOptions { LogDirectory = directory, Checkpoint = checkpoint };
        _session = new DebugSession(options, new PosixFileSystem(), TimeProvider.System, Tell);
        IReadOnlyDictionary<string, string> channel = _session.Environment;
        _app = new AppHost(
            ImmortalDefinition.Of<TImmortal>(), AwaitCheck.Faults,
            name => channel.GetValueOrDefault(name) ?? Environment.GetEnvironmentVariable(name), Tell, TimeProvider.System);
        try
        {
            Inspection.Places.FoundPlace place = _session.Find(until);
            _session.Start();
            new Thread(RunApp) { Name = $"app in the past of {_session.Instance}", IsBackground = true }.Start();
            Where = _session.To(place);
        }
        catch
        {
            _session.Dispose();
            throw;
        }
    }

    /// <summary>The immortal itself: its fields are as they were before the message at which it stands.</summary>
    public TImmortal State => (TImmortal)(_app.Session?.Immortal
        ?? throw new InvalidOperationException("There is no immortal before the first record of its log."));

    /// <summary>Says in a line before which message it stands.</summary>
    public string Where { get; private set; }

    /// <summary>The calls that the message has made which was executed last, as <see cref="Next"/> did, each in a line.</summary>
    public IReadOnlyList<string> Calls => [.. _session.Calls()];

    /// <summary>What was told meanwhile: that the immortal does not do what was done, for instance.</summary>
    public IReadOnlyList<string> Lines => [.. _lines];

    /// <summary>Executes the message at which it stands: a breakpoint in the handler is hit. Returns where it stands then.</summary>
    public string Next() => Where = _session.Next();

    /// <summary>
    /// Goes to another place, forwards or back, and returns where it stands then. <see cref="State"/> is another object after going back.
    /// </summary>
    /// <exception cref="MisuseException">There is no such place; the message says which is near.</exception>
    public string To(string position) => Where = _session.To(_session.Find(position));

    /// <summary>The state and all that belongs to it as JSON, in the form of <c>ambrosia state</c>.</summary>
    public string Json()
    {
        var text = new ArrayBufferWriter<byte>();
        _session.WriteState(piece => text.Write(piece), isIndented: true);
        return Encoding.UTF8.GetString(text.WrittenSpan);
    }

    /// <summary>
    /// Shows what stands at a path of the state, as JSON with the members <c>path</c> and <c>value</c>: fields by their names, entries of
    /// maps by their keys, elements by their numbers, as in <c>accounts["alice"].Balance</c> and <c>orders[3]</c>.
    /// </summary>
    /// <exception cref="MisuseException">Nothing stands there; the message says what is near.</exception>
    public string Json(string path)
    {
        var text = new ArrayBufferWriter<byte>();
        _session.WriteState(path, piece => text.Write(piece), isIndented: true);
        return Encoding.UTF8.GetString(text.WrittenSpan);
    }

    private void RunApp()
    {
        int code = _app.Run();
        if (code != ExitCodes.Ok) _session.AppEnded(code);
    }

    private void Tell(string line) => _lines.Enqueue(line);

    /// <summary>Ends it, and frees what it holds of the log.</summary>
    public void Dispose() => _session.Dispose();
}
