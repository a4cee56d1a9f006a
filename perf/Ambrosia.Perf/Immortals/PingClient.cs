// Awaits one call after another and measures each. It reads a clock and keeps what it read, which a handler must not do whose state or
// output depends on it; here neither does: the histogram is no part of the state, and nobody kills a measurement.
using System.Diagnostics;

namespace Ambrosia.Perf;

/// <summary>The calling end of <c>ping</c>. It prints the round's latencies as <c>latencies ROUND</c> and a <see cref="LatencyHistogram"/> line.</summary>
public sealed partial class PingClient : Immortal<IPingClientProxy>, IPingClient
{
    private readonly IPingServerProxy server;
    private long asked;
    private long wrong;

    [NotState]
    private LatencyHistogram? latencies;

    public PingClient() => server = GetProxy<IPingServer>("server");

    public async Call Ping(int round, int calls)
    {
        latencies = new LatencyHistogram();
        for (int i = 0; i < calls; i++)
        {
            long begun = Stopwatch.GetTimestamp();
            long answer = await server.EchoAsync(++asked);
            latencies.Add(Stopwatch.GetElapsedTime(begun));
            if (answer != asked) wrong++;
        }
        Console.WriteLine($"latencies {round} {wrong} {latencies}");
    }

    protected override void BecomingPrimary()
    {
        IPingClientProxy self = thisProxy;
        Driver.Listen(words =>
        {
            if (words is ["ping", string round, string calls]) self.PingFork(int.Parse(round), int.Parse(calls));
        });
    }
}
