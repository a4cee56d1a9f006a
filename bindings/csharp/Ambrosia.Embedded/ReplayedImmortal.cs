using System.Buffers;
using System.Collections.Concurrent;
using System.Runtime.CompilerServices;
using System.Text;
using System.Text.Json;
using System.Text.Json.Nodes;
using Ambrosia.Coordinator.Hosting;
using Ambrosia.Coordinator.Replica;
using Ambrosia.Inspection.Cuts;
using Ambrosia.Inspection.Debugging;
using Ambrosia.Inspection.Places;
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

    /// <summary>A cut was executed, and this was done with it; null: none was, or something else has been executed since.</summary>
    private (Cut Cut, CutOutcome Done)? _cut;

    /// <exception cref="MisuseException">There is no such log, checkpoint or place; the message says which is near.</exception>
    internal ReplayedImmortal(string directory, string until, string? checkpoint)
        : this(new DebugOptions { LogDirectory = directory, Checkpoint = checkpoint }) => Begin(() =>
        {
            FoundPlace place = _session.Find(until);
            Start();
            Where = _session.To(place);
        });

    /// <exception cref="MisuseException">The cut cannot be executed.</exception>
    /// <exception cref="ReplayException">The immortal does not survive it.</exception>
    internal ReplayedImmortal(Cut cut) : this(new DebugOptions { LogDirectory = cut.Directory }) => Begin(() =>
        {
            Start();
            try
            {
                _cut = (cut, _session.Execute(cut));
            }
            catch (ViewEndedException ended) when (ended.Code != ExitCodes.Misuse)
            {
                throw new ReplayException([$"{cut.Message} was not survived: {ended.Message}", .. Lines]);
            }
            Where = _session.Where();
        });

    private ReplayedImmortal(DebugOptions options)
    {
        _session = new DebugSession(options, new PosixFileSystem(), TimeProvider.System, Tell);
        IReadOnlyDictionary<string, string> channel = _session.Environment;
        _app = new AppHost(
            ImmortalDefinition.Of<TImmortal>(), AwaitCheck.Faults,
            name => channel.GetValueOrDefault(name) ?? Environment.GetEnvironmentVariable(name), Tell, TimeProvider.System);
    }

    /// <summary>The immortal itself: its fields are as they were before the message at which it stands.</summary>
    public TImmortal State => (TImmortal)(_app.Session?.Immortal
        ?? throw new InvalidOperationException("There is no immortal before the first record of its log."));

    /// <summary>Says in a line before which message it stands.</summary>
    public string Where { get; private set; } = "";

    /// <summary>The calls that the message has made which was executed last, as <see cref="Next"/> did, each in a line.</summary>
    public IReadOnlyList<string> Calls => [.. _session.Calls()];

    /// <summary>What was told meanwhile: that the immortal does not do what was done, for instance.</summary>
    public IReadOnlyList<string> Lines => [.. _lines];

    /// <summary>Executes the message at which it stands: a breakpoint in the handler is hit. Returns where it stands then.</summary>
    public string Next()
    {
        _cut = null;
        return Where = _session.Next();
    }

    /// <summary>
    /// Goes to another place, forwards or back, and returns where it stands then. <see cref="State"/> is another object after going back.
    /// </summary>
    /// <exception cref="MisuseException">There is no such place; the message says which is near.</exception>
    public string To(string position)
    {
        FoundPlace place = _session.Find(position);
        _cut = null;
        return Where = _session.To(place);
    }

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

    /// <summary>Holds what stands at a path of the state against a value, as it is written in JSON.</summary>
    /// <exception cref="ReplayException">It is another.</exception>
    /// <exception cref="MisuseException">Nothing stands there, or the value is no JSON.</exception>
    public void Must(string path, string json)
    {
        JsonNode? value = JsonNode.Parse(Json(path))!["value"], expected = Parse(json);
        if (!JsonNode.DeepEquals(value, expected))
            throw new ReplayException([$"{path} is {value?.ToJsonString() ?? "null"}, and should be {json}", Where]);
    }

    /// <summary>Asks the immortal itself whether something holds.</summary>
    /// <param name="said">The condition, as it is written; the compiler gives it.</param>
    /// <exception cref="ReplayException">It does not.</exception>
    public void Must(Func<TImmortal, bool> holds, [CallerArgumentExpression(nameof(holds))] string said = "")
    {
        ArgumentNullException.ThrowIfNull(holds);
        if (!holds(State)) throw new ReplayException([$"it does not hold: {said}", Where]);
    }

    /// <summary>
    /// Holds what was done with a cut against what was done then: the calls of its message, all that was emitted, and the state.
    /// </summary>
    /// <exception cref="ReplayException">Something differs; all of it is named.</exception>
    /// <exception cref="InvalidOperationException">It is no cut, or more was executed since.</exception>
    public void MustBeAlike()
    {
        if (_cut is not { } cut)
            throw new InvalidOperationException("Only what AmbrosiaHost.Replay has just executed can be held against what was done then.");
        IReadOnlyList<string> differences = _session.DifferencesFrom(cut.Cut, cut.Done);
        if (differences.Count > 0) throw new ReplayException([$"{cut.Cut.Message} does something else:", .. differences]);
    }

    private static JsonNode? Parse(string json)
    {
        try
        {
            return JsonNode.Parse(json);
        }
        catch (JsonException)
        {
            throw new MisuseException($"'{json}' is no JSON", "", "write texts in quotes");
        }
    }

    private void Begin(Action execute)
    {
        try
        {
            execute();
        }
        catch
        {
            _session.Dispose();
            throw;
        }
    }

    private void Start()
    {
        _session.Start();
        new Thread(RunApp) { Name = $"app in the past of {_session.Instance}", IsBackground = true }.Start();
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
