// A web application from the start of its process until its health checks say that it can answer, and until it has answered: with an
// immortal in the process, on an empty log, and without us. Each pair is two starts, one behind the other, in turning order.
using System.Diagnostics;

namespace Ambrosia.Perf;

/// <summary>What <c>start</c> does.</summary>
internal sealed class StartCommand(ClusterOptions options)
{
    private const string Listening = "Now listening on: ";

    /// <summary>Whoever asks without a pause takes the processor from what starts.</summary>
    private static readonly long s_askEvery = Stopwatch.Frequency / 200;

    /// <summary>Each request has a connection of its own, since each process has an address of its own.</summary>
    private readonly HttpClient _client =
        new(new SocketsHttpHandler { PooledConnectionLifetime = TimeSpan.Zero }) { Timeout = options.Limit };

    private int _started;

    /// <exception cref="FailedRoundException">One was not ready in time, or answered wrongly.</exception>
    public StartResult Run(int pairs)
    {
        RunOnce(isWith: true); // files are read for the first time
        RunOnce(isWith: false);
        var with = new List<StartedWeb>();
        var without = new List<StartedWeb>();
        for (int i = 0; i < pairs; i++)
        {
            foreach (bool isWith in i % 2 == 0 ? [true, false] : new[] { false, true }) (isWith ? with : without).Add(RunOnce(isWith));
            options.Advance(1.0 / pairs);
            options.Report($"pair {i + 1} of {pairs}: ready after {with[^1].ReadyMs:F0} ms, without us after {without[^1].ReadyMs:F0} ms");
        }
        return new StartResult(with, without);
    }

    private StartedWeb RunOnce(bool isWith)
    {
        options.Stop.ThrowIfCancellationRequested();
        var start = new ProcessStartInfo(
            HostedProgram.Path, [isWith ? "web" : "web-plain", "--urls", "http://127.0.0.1:0",
                $"--Ambrosia:Log={Path.Combine(options.Directory, $"web-{_started++}")}"])
        {
            RedirectStandardOutput = true, RedirectStandardError = true, WorkingDirectory = options.Directory,
        };
        start.Environment["DOTNET_EnableDiagnostics"] = "0";
        long begun = Stopwatch.GetTimestamp();
        using Process process = Process.Start(start)!;
        try
        {
            process.BeginErrorReadLine();
            Uri address = AddressOf(process);
            double listens = Since(begun);
            while (!TryGet(new Uri(address, "/ready")))
            {
                if (Stopwatch.GetElapsedTime(begun) > options.Limit) throw new FailedRoundException($"{address} was not ready in time");
                Pause.Until(Stopwatch.GetTimestamp() + s_askEvery);
            }
            double ready = Since(begun);
            Require(new Uri(address, "/add/first?amount=7"), "7");
            return new StartedWeb(listens, ready, Since(begun));
        }
        finally
        {
            process.Kill();
            process.WaitForExit();
        }
    }

    private static double Since(long begun) => Stopwatch.GetElapsedTime(begun).TotalMilliseconds;

    /// <summary>Waits until the server says where it listens; its other lines go by.</summary>
    /// <exception cref="FailedRoundException">It has ended before, or has not come so far in time.</exception>
    private Uri AddressOf(Process process)
    {
        var address = new TaskCompletionSource<Uri>(TaskCreationOptions.RunContinuationsAsynchronously);
        process.OutputDataReceived += (_, line) =>
        {
            if (line.Data is null) address.TrySetException(new FailedRoundException("the web application has ended before it listened"));
            else if (line.Data.IndexOf(Listening, StringComparison.Ordinal) is var at and >= 0)
                address.TrySetResult(new Uri(line.Data[(at + Listening.Length)..]));
        };
        process.BeginOutputReadLine();
        Task.WhenAny(address.Task, Task.Delay(options.Limit, options.Stop)).GetAwaiter().GetResult();
        options.Stop.ThrowIfCancellationRequested();
        return address.Task.IsCompleted ? address.Task.GetAwaiter().GetResult()
            : throw new FailedRoundException("the web application did not listen in time");
    }

    private bool TryGet(Uri uri)
    {
        using HttpResponseMessage response = _client.Send(new HttpRequestMessage(HttpMethod.Get, uri), options.Stop);
        return response.IsSuccessStatusCode;
    }

    private void Require(Uri uri, string expected)
    {
        using HttpResponseMessage response = _client.Send(new HttpRequestMessage(HttpMethod.Post, uri), options.Stop);
        using var reader = new StreamReader(response.Content.ReadAsStream());
        string said = reader.ReadToEnd();
        if (said != expected) throw new FailedRoundException($"{uri} was answered with '{said}', and '{expected}' is right");
    }
}
