using System.Collections.Concurrent;
using System.Globalization;
using Ambrosia.Coordinator.Hosting;
using Ambrosia.Tools.Output;

namespace Ambrosia.Tools.Development;

/// <summary>
/// Runs the apps of <c>ambrosia dev</c> until it is told to end, and does what keys say. It ends all that it has started, and nothing else.
/// The thread that runs it writes; other threads leave lines and keys for it.
/// </summary>
internal sealed class DevSession(IReadOnlyList<DevApp> apps, Action<string> write)
{
    private const char Quit = 'q', Kill = 'k', Rebuild = 'r';

    private readonly BlockingCollection<Event> _events = new(boundedCapacity: 10_000);

    /// <summary>An app's line for the person in front.</summary>
    public void Tell(string name, string line) => _events.TryAdd(new Event($"{name} | {line}", null, false));

    public void Run()
    {
        using var stop = new CancellationTokenSource();
        using var signals = new StopSignals(stop);
        using CancellationTokenRegistration asked = stop.Token.Register(() => _events.Add(new Event(null, Quit, false)));
        new Thread(ReadKeys) { Name = "keys", IsBackground = true }.Start();
        foreach (DevApp app in apps)
        {
            app.Changed = () => _events.TryAdd(new Event(null, null, true));
            app.Start();
        }
        write($"keys: {Rebuild} stops, builds and starts · {Kill} kills one at random · {Quit} or Ctrl-C ends");
        string[] shown = [];
        foreach (Event next in _events.GetConsumingEnumerable())
        {
            if (next.Line is { } line) write(line);
            if (next.Key == Quit) break;
            if (next.Key is { } key) Obey(key);
            if (next.HasChanged && Overview() is { } overview && !overview.SequenceEqual(shown)) Show(shown = overview);
        }
        End();
    }

    private void Obey(char key)
    {
        if (key == Rebuild)
        {
            foreach (DevApp app in apps) app.Rebuild();
        }
        else if (key == Kill)
        {
            DevApp[] running = [.. apps.Where(static app => app.ProcessId is not null)];
            if (running.Length == 0) return;
            DevApp victim = running[Random.Shared.Next(running.Length)];
            if (victim.Kill()) write($"{victim.Name} was killed");
        }
    }

    private void End()
    {
        foreach (DevApp app in apps) app.End();
        foreach (DevApp app in apps) app.AwaitEnd();
        while (_events.TryTake(out Event left))
            if (left.Line is { } line) write(line);
        write("all that was started has ended");
    }

    private string[] Overview()
    {
        var table = new TextTable("app", "state", ">process", ">starts", "address");
        foreach (DevApp app in apps)
            table.Add(app.Name, app.State, app.ProcessId?.ToString(CultureInfo.InvariantCulture) ?? "",
                app.Starts.ToString(CultureInfo.InvariantCulture), app.Address ?? "");
        return [.. table.Lines()];
    }

    private void Show(string[] overview)
    {
        foreach (string line in overview) write(line);
    }

    /// <summary>A terminal gives keys at once; whatever else is the standard input is read to its end, which ends nothing.</summary>
    private void ReadKeys()
    {
        if (!Console.IsInputRedirected)
        {
            while (true) _events.Add(new Event(null, Console.ReadKey(intercept: true).KeyChar, false));
        }
        for (int read; (read = Console.In.Read()) >= 0;) _events.Add(new Event(null, (char)read, false));
    }

    /// <summary>Tells the thread that runs of something: a line to show, a key that was pressed, or that an app has changed.</summary>
    private readonly record struct Event(string? Line, char? Key, bool HasChanged);
}
