using System.Collections.Concurrent;
using System.Diagnostics;
using System.Globalization;
using System.Net;
using Ambrosia.TestKit;
using Xunit.Abstractions;

namespace Ambrosia.Hosting.Tests.Processes;

/// <summary>A host that is stopped in order under callers: with a standby that goes on, and without one.</summary>
public sealed class StopTests(ITestOutputHelper output)
{
    [Fact]
    public async Task Stop_WithAStandby_IsATakeOverThatCallersSeeAsARetry()
    {
        using var logs = new TemporaryDirectory();
        using TillProcess first = TillProcess.Embedded(logs.Path);
        using var caller = new TillCaller(() => first.HasEnded ? null : first.Address);
        Assert.Equal("1", await caller.PostAsync("/pay/k1?cents=1"));
        using TillProcess standby = TillProcess.Embedded(logs.Path, ("Ambrosia__Replica", "r1"));
        await standby.UntilAsync("startup", HttpStatusCode.OK);
        await standby.UntilAsync("ready", HttpStatusCode.ServiceUnavailable);
        using var next = new TillCaller(() => standby.Address); // calls by way of the standby's web server, which finds the primary
        Assert.Equal("2", await next.PostAsync("/pay/k2?cents=1"));
        Task<string[]> going = Task.WhenAll(Enumerable.Range(3, 20).Select(key => next.PostAsync($"/pay/k{key}?cents=1")));
        first.Terminate();
        Assert.True(first.AwaitEnd() == 0, first.Output);
        await going;
        Assert.Equal(0, next.Repeated); // the client in the standby repeats by itself
        Assert.Equal(22, await next.SumAsync());
        await standby.UntilAsync("ready", HttpStatusCode.OK);
        Assert.Contains("replica r1 has caught up and goes on", first.Output, StringComparison.Ordinal);
    }

    /// <summary>
    /// One process after the other is stopped while another stands by. Callers go to where the web server answers: with one retry at
    /// most they are answered, and the longest time without an answer is the gap.
    /// </summary>
    [Fact]
    public async Task Restarts_OneBehindTheOther_CostCallersOneRetryAtMost()
    {
        using var logs = new TemporaryDirectory();
        int rounds = TestScale.Rounds(50), calls = 0;
        var gaps = new List<double>();
        var processes = new TillProcess[2];
        processes[0] = TillProcess.Embedded(logs.Path);
        try
        {
            await processes[0].UntilAsync("ready", HttpStatusCode.OK);
            for (int round = 0; round < rounds; round++)
            {
                TillProcess old = processes[round % 2], next = processes[(round + 1) % 2] = TillProcess.Embedded(
                    logs.Path, ("Ambrosia__Replica", $"r{(round + 1) % 2}"));
                await next.UntilAsync("startup", HttpStatusCode.OK);
                using var callers = new RollingCallers(old, next, round);
                await callers.UntilAnswered(10);
                old.Terminate();
                Assert.True(old.AwaitEnd() == 0, old.Output);
                await next.UntilAsync("ready", HttpStatusCode.OK);
                await AssertAnswersAtOnce(next, $"/pay/ready-{round}?cents=1");
                await callers.UntilAnswered(10);
                calls += await callers.EndAsync() + 1;
                Assert.InRange(callers.AttemptsMax, 1, 2);
                gaps.Add(callers.Gap.TotalMilliseconds);
                old.Dispose();
            }
            using var last = new TillCaller(() => processes[rounds % 2].Address);
            Assert.Equal(calls, await last.SumAsync());
        }
        finally
        {
            foreach (TillProcess? process in processes) process?.Dispose();
        }
        gaps.Sort();
        output.WriteLine(string.Create(CultureInfo.InvariantCulture,
            $"{rounds} restarts under {calls} calls: gap p50 {gaps[gaps.Count / 2]:F0} ms, p99 {gaps[(int)(gaps.Count * 0.99)]:F0} ms, "
                + $"max {gaps[^1]:F0} ms"));
    }

    /// <summary>What was accepted is answered before the process ends, or by the next one, and has its effect once.</summary>
    [Fact]
    public async Task Stop_WithoutAStandby_LosesNothingThatWasAccepted()
    {
        using var logs = new TemporaryDirectory();
        int rounds = TestScale.Rounds(30), calls = 0;
        TillProcess process = TillProcess.Embedded(logs.Path);
        try
        {
            using var caller = new TillCaller(() => Volatile.Read(ref process).Address);
            var answers = new ConcurrentBag<string>();
            for (int round = 0; round < rounds; round++)
            {
                Task[] going = [.. Enumerable.Range(calls, 40)
                    .Select(async key => answers.Add(await caller.PostAsync($"/pay/k{key}?cents=1")))];
                calls += going.Length;
                await Task.WhenAny(going);
                process.Terminate();
                Assert.True(process.AwaitEnd() == 0, process.Output);
                process.Dispose();
                Volatile.Write(ref process, TillProcess.Embedded(logs.Path));
                await process.UntilAsync("ready", HttpStatusCode.OK);
                await AssertAnswersAtOnce(process, $"/pay/k{calls - 1}?cents=1");
                await Task.WhenAll(going);
            }
            Assert.Equal(
                Enumerable.Range(1, calls), answers.Select(static sum => int.Parse(sum, CultureInfo.InvariantCulture)).Order());
            Assert.Equal(calls, await caller.SumAsync());
            output.WriteLine($"{rounds} stops under {calls} calls, {caller.Repeated} repeated");
        }
        finally
        {
            process.Dispose();
        }
    }

    /// <summary>Readiness is no promise for later: who has heard of it is answered at the first try.</summary>
    private static async Task AssertAnswersAtOnce(TillProcess ready, string path)
    {
        using var first = new TillCaller(() => ready.Address);
        Assert.NotNull(await first.TryAsync(path));
    }

    /// <summary>
    /// Callers of two processes: each call goes to the one that is thought to serve, and to the other one when that fails.
    /// </summary>
    private sealed class RollingCallers : IDisposable
    {
        private const int Callers = 4;

        private readonly TillProcess[] _processes;
        private readonly HttpClient _client = new() { Timeout = TimeSpan.FromSeconds(60) };
        private readonly CancellationTokenSource _stop = new();
        private readonly Task[] _calling;
        private readonly Lock _gate = new();
        private long _lastTicks = Stopwatch.GetTimestamp();
        private int _answered, _attemptsMax;
        private volatile int _serving;

        internal RollingCallers(TillProcess old, TillProcess next, int round)
        {
            _processes = [old, next];
            _calling = [.. Enumerable.Range(0, Callers).Select(name => Task.Run(() => CallAsync($"{round}-{name}")))];
        }

        internal TimeSpan Gap { get; private set; }

        internal int AttemptsMax => _attemptsMax;

        internal async Task UntilAnswered(int more)
        {
            for (int before = Volatile.Read(ref _answered); Volatile.Read(ref _answered) < before + more; await Task.Delay(5))
                if (_calling.FirstOrDefault(static task => task.IsFaulted) is { } failed) await failed;
        }

        internal async Task<int> EndAsync()
        {
            _stop.Cancel();
            await Task.WhenAll(_calling);
            return _answered;
        }

        public void Dispose()
        {
            _stop.Cancel();
            _client.Dispose();
            _stop.Dispose();
        }

        private async Task CallAsync(string name)
        {
            for (int call = 0; !_stop.IsCancellationRequested; call++)
            {
                int attempts = 1;
                while (!await TryAsync($"/pay/{name}-{call}?cents=1")) attempts++;
                Answered(attempts);
            }
        }

        private async Task<bool> TryAsync(string path)
        {
            int at = _serving;
            try
            {
                using HttpResponseMessage response = await _client.PostAsync(new Uri(_processes[at].Address!, path), null);
                if (response.IsSuccessStatusCode) return true;
            }
            catch (HttpRequestException)
            {
                // It stops, or has stopped.
            }
            _serving = 1;
            return false;
        }

        private void Answered(int attempts)
        {
            using (_gate.EnterScope())
            {
                long now = Stopwatch.GetTimestamp();
                TimeSpan since = Stopwatch.GetElapsedTime(_lastTicks, now);
                if (_answered++ > 0 && since > Gap) Gap = since;
                _lastTicks = now;
                _attemptsMax = Math.Max(_attemptsMax, attempts);
            }
        }
    }
}
