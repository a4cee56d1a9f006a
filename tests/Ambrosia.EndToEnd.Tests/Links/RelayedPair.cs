using System.Net;
using System.Net.Sockets;
using Ambrosia.EndToEnd.App;
using Ambrosia.TestKit;

namespace Ambrosia.EndToEnd.Tests;

/// <summary>A source and a ledger that reach each other only through a relay in front of each.</summary>
internal sealed class RelayedPair : IDisposable
{
    private readonly Cluster _cluster = new();

    public RelayedPair(int calls, int burst, int seed, LinkFaults faults)
    {
        (Source, Ledger) = _cluster.Pair(calls, burst);
        Source.Settings["UNTIL"] = _cluster.Until;
        (Calls, ToSource, ToLedger) = (calls, Before(Source, seed, faults), Before(Ledger, ~seed, faults));
    }

    public int Calls { get; }

    public Replica Source { get; }

    public Replica Ledger { get; }

    public FaultyRelay ToSource { get; }

    public FaultyRelay ToLedger { get; }

    public int Strikes => ToSource.Strikes + ToLedger.Strikes;

    public int Connections => ToSource.Connections + ToLedger.Connections;

    /// <summary>Starts both, lets the test do its worst, ends the run and compares both sides.</summary>
    public void Run(string again, Action worst) => _cluster.Run(again, () =>
    {
        Ledger.Start();
        Source.Start();
        Source.AwaitReady();
        Ledger.AwaitReady();
        worst();
        File.Create(_cluster.Until).Dispose();
        Cluster.AssertEqual(Source, Calls);
        Assert.Equal(0, Count("stopped:")); // no link was given up
        _cluster.AssertNoneGaveUp();
    });

    public void Passed() => _cluster.Passed();

    /// <summary>Lines of both with this text.</summary>
    public int Count(string text) =>
        new[] { Source, Ledger }.Sum(replica => replica.Lines.From(0).Count(line => line.Contains(text, StringComparison.Ordinal)));

    /// <summary>Puts a relay in front of a replica that is not started yet: peers are told the relay's address.</summary>
    public static FaultyRelay Before(Replica replica, int seed, LinkFaults faults)
    {
        // A port that was free a moment ago: the coordinator would say so if somebody had come in between.
        using var probe = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        probe.Bind(new IPEndPoint(IPAddress.Loopback, 0));
        var listen = (IPEndPoint)probe.LocalEndPoint!;
        var relay = new FaultyRelay(seed, faults) { Target = listen };
        replica.Options.AddRange(["--listen", listen.ToString(), "--advertise", relay.Address.ToString()]);
        return relay;
    }

    public void Dispose()
    {
        _cluster.Dispose();
        ToSource.Dispose();
        ToLedger.Dispose();
    }
}
