using System.Collections.Concurrent;
using System.Diagnostics;
using System.Globalization;
using Ambrosia.TestKit;
using Xunit.Abstractions;

namespace Ambrosia.Hosting.Tests.Processes;

/// <summary>A host that is killed again and again under callers with keys, who repeat what has no answer.</summary>
public sealed class KillTests(ITestOutputHelper output)
{
    private const int Callers = 4;

    /// <summary>A release lets a process live for so long; less of a run lets it have its first answers.</summary>
    private static readonly TimeSpan s_life = TestScale.Value < 1 ? TimeSpan.Zero : TimeSpan.FromSeconds(1);

    [Fact]
    public async Task Host_KilledAgainAndAgain_DoesEachThingOnceAndAnswersTheSame()
    {
        using var logs = new TemporaryDirectory();
        TillProcess process = TillProcess.Embedded(logs.Path);
        TillProcess? Serving() => Volatile.Read(ref process);
        using var stop = new CancellationTokenSource();
        var answers = new ConcurrentDictionary<string, string>();
        using var caller = new TillCaller(() => Serving()!.Address);
        Task[] calling = [.. Enumerable.Range(0, Callers).Select(name => Task.Run(() => Call(caller, name, answers, stop.Token)))];
        int rounds = TestScale.Rounds(100);
        try
        {
            for (int round = 0; round < rounds; round++)
            {
                int before = answers.Count;
                long begun = Stopwatch.GetTimestamp();
                await RunningUntil(() => answers.Count > before && Stopwatch.GetElapsedTime(begun) >= s_life, calling);
                process.Kill();
                process.Dispose();
                Volatile.Write(ref process, TillProcess.Embedded(logs.Path));
            }
            stop.Cancel();
            await Task.WhenAll(calling);
            await AssertOnce(caller, answers, Path.Combine(logs.Path, "ledger"));
            output.WriteLine($"{rounds} kills, {answers.Count} calls, {caller.Repeated} repeated");
        }
        finally
        {
            stop.Cancel();
            process.Dispose();
        }
    }

    /// <summary>Pays one cent after another, each with a key of its own; every tenth is written down by a service.</summary>
    private static async Task Call(TillCaller caller, int name, ConcurrentDictionary<string, string> answers, CancellationToken stop)
    {
        for (int call = 0; !stop.IsCancellationRequested; call++)
        {
            string path = call % 10 == 9 ? $"/record/{name}-{call}?cents=1" : $"/pay/{name}-{call}?cents=1";
            Assert.True(answers.TryAdd(path, await caller.PostAsync(path)));
        }
    }

    /// <summary>Each payment had its effect once, and its answer stays what it was.</summary>
    private static async Task AssertOnce(TillCaller caller, ConcurrentDictionary<string, string> answers, string ledger)
    {
        string[] paid = [.. answers.Where(static each => each.Key.StartsWith("/pay/", StringComparison.Ordinal))
            .Select(static each => each.Value)];
        Assert.Equal(
            Enumerable.Range(1, paid.Length).Select(static sum => (long)sum),
            paid.Select(static sum => long.Parse(sum, CultureInfo.InvariantCulture)).Order());
        Assert.Equal(paid.Length, await caller.SumAsync());
        int written = !Directory.Exists(ledger) ? 0
            : Directory.GetFiles(ledger).Count(static file => !file.EndsWith(".draft", StringComparison.Ordinal));
        Assert.Equal(answers.Count - paid.Length, written);
        foreach ((string path, string answer) in answers.OrderBy(static each => each.Key, StringComparer.Ordinal).Take(200))
            Assert.Equal(answer, await caller.PostAsync(path));
        Assert.Equal(paid.Length, await caller.SumAsync());
    }

    /// <summary>Waits until something holds, or fails as one of the tasks does.</summary>
    private static async Task RunningUntil(Func<bool> holds, Task[] tasks)
    {
        while (!holds())
        {
            if (tasks.FirstOrDefault(static task => task.IsFaulted) is { } failed) await failed;
            await Task.Delay(5);
        }
    }
}
