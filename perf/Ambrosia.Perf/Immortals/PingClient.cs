// Awaits calls and measures each. It reads a clock and keeps what it read, which a handler must not do whose state or output depends on
// it; here neither does: the histogram is no part of the state, and a moment in a
// suspended handler comes to nothing after a kill, whose round counts answers and no latencies.
using System.Diagnostics;

namespace Ambrosia.Perf;

/// <summary>
/// The calling end of <c>ping</c>. It prints each round's latencies as <c>latencies ROUND WRONG TICKS</c> and a
/// <see cref="LatencyHistogram"/> line, where TICKS are those from the first call to the last answer; before that <c>half ROUND</c>, and
/// <c>answered ROUND COUNT WRONG TICKS</c> with the clock's.
/// </summary>
public sealed partial class PingClient : Immortal<IPingClientProxy>, IPingClient
{
    private readonly IPingServerProxy _server;
    private long _asked;
    private long _wrong;
    private int _round;
    private int _left, _calls;

    [NotState]
    private LatencyHistogram? _latencies;

    [NotState]
    private long _begun;

    public PingClient() => _server = GetProxy<IPingServer>("server");

    public async Call Ping(int round, int calls)
    {
        Begin(round, calls);
        for (int i = 0; i < calls; i++)
        {
            long called = Stopwatch.GetTimestamp();
            long question = ++_asked;
            Answered(question, await _server.EchoAsync(question), called);
        }
    }

    public void Crowd(int round, int calls, int outstanding)
    {
        Begin(round, calls);
        for (int i = 0; i < outstanding; i++) thisProxy.ShareFork((calls / outstanding) + (i < calls % outstanding ? 1 : 0));
    }

    public async Call Share(int calls)
    {
        for (int i = 0; i < calls; i++)
        {
            long called = Stopwatch.GetTimestamp();
            long question = ++_asked;
            Answered(question, await _server.EchoAsync(question), called);
        }
    }

    public void Open(int round, int calls) => Begin(round, calls);

    public async Call Ask(long intended)
    {
        long question = ++_asked;
        Answered(question, await _server.EchoAsync(question), intended);
    }

    private void Begin(int round, int calls)
    {
        (_round, _left, _calls, _wrong) = (round, calls, calls, 0);
        _latencies = new LatencyHistogram();
        _begun = Stopwatch.GetTimestamp();
    }

    private void Answered(long question, long answer, long since)
    {
        _latencies?.Add(Stopwatch.GetElapsedTime(since));
        if (answer != question) _wrong++;
        if (--_left == _calls / 2) Console.WriteLine($"half {_round}");
        if (_left != 0) return;
        Console.WriteLine($"answered {_round} {_calls} {_wrong} {Stopwatch.GetTimestamp()}");
        if (_latencies is not null) Console.WriteLine($"latencies {_round} {_wrong} {Stopwatch.GetTimestamp() - _begun} {_latencies}");
    }

    protected override void BecomingPrimary()
    {
        IPingClientProxy self = thisProxy;
        Driver.Listen(words =>
        {
            switch (words)
            {
                case ["ping", string round, string calls]: self.PingFork(int.Parse(round), int.Parse(calls)); break;
                case ["crowd", string round, string calls, string outstanding]:
                    self.CrowdFork(int.Parse(round), int.Parse(calls), int.Parse(outstanding)); break;
                case ["open", string round, string calls, string perSecond]:
                    Pace(self, int.Parse(round), int.Parse(calls), double.Parse(perSecond)); break;
            }
        });
    }

    /// <summary>The world outside: asks at fixed moments, whatever became of those before. The thread is the driver's.</summary>
    private static void Pace(IPingClientProxy self, int round, int calls, double perSecond)
    {
        self.OpenFork(round, calls);
        long first = Stopwatch.GetTimestamp();
        for (int i = 0; i < calls; i++)
        {
            long intended = first + (long)(i / perSecond * Stopwatch.Frequency);
            Pause.Until(intended);
            self.AskFork(intended);
        }
    }
}
