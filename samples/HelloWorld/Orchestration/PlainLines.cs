using System.Globalization;

namespace HelloWorld.Orchestration;

/// <summary>Shows a run as one line a second, for output that is not a terminal.</summary>
internal sealed class PlainLines(TextWriter output) : IScreen
{
    private static readonly TimeSpan s_every = TimeSpan.FromSeconds(1);

    private TimeSpan _next;

    public void During(Action<Action<RunStatus>> body) => body(Show);

    private void Show(RunStatus now)
    {
        if (now.Elapsed < _next) return;
        _next = now.Elapsed + s_every;
        string recovery = now.Recoveries.Last is { } last
            ? $" recovery last={last.TotalMilliseconds:F0}ms median={now.Recoveries.Median!.Value.TotalMilliseconds:F0}ms" : "";
        output.WriteLine(string.Create(
            CultureInfo.InvariantCulture,
            $"{now.Elapsed.TotalSeconds,5:F1}s made={now.Made} applied={now.Applied} answers={now.Answers} kills={now.Kills}/{now.KillsPlanned} recoveries={now.Recoveries.Count}{recovery} durable={now.CallsPerSecond:F0}/s"));
    }
}
