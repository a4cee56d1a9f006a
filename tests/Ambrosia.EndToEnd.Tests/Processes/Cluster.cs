using System.Diagnostics;
using Ambrosia.Client;

namespace Ambrosia.EndToEnd.Tests;

/// <summary>
/// The processes and the directory of one test. Everything it started is killed when it is disposed of; the directory stays if the test
/// did not say <see cref="Passed"/>, so that a failure can be looked at.
/// </summary>
internal sealed class Cluster : IDisposable
{
    /// <summary>For anything that will surely come on a machine that is busy with other tests.</summary>
    public static readonly TimeSpan Patience = TimeSpan.FromSeconds(60);

    private readonly List<Replica> _replicas = [];
    private bool _passed;

    public Cluster() => Root = Directory.CreateTempSubdirectory("ambrosia-e2e-").FullName;

    /// <summary>Holds the log directories and the catalog.</summary>
    public string Root { get; }

    /// <summary>Where callers outside look instances up.</summary>
    public string Catalog => Path.Combine(Root, "catalog");

    /// <summary>Once it is there, sources that were given it as UNTIL come to an end.</summary>
    public string Until => Path.Combine(Root, "until");

    public Replica Add(string name, string role)
    {
        var replica = new Replica(Root, name, role);
        _replicas.Add(replica);
        return replica;
    }

    /// <summary>Looks after a replica whose log is elsewhere.</summary>
    public Replica Adopt(Replica replica)
    {
        _replicas.Add(replica);
        return replica;
    }

    /// <summary>Connects a caller outside with an instance, which may still be starting.</summary>
    public Task<ImmortalClient> ConnectAsync(string instance) =>
        ImmortalClient.ConnectAsync(Catalog, instance, new ClientOptions { ConnectWithin = Patience });

    /// <summary>A process that holds its coordinators; of several roles, with commas, each has its log below.</summary>
    public Replica AddHost(string name, string roles)
    {
        var replica = new Replica(Root, name, roles) { IsEmbedded = true };
        _replicas.Add(replica);
        return replica;
    }

    /// <summary>A source that makes at least so many calls, and a ledger.</summary>
    public (Replica Source, Replica Ledger) Pair(int calls, int burst = 20, string role = "source")
    {
        Replica source = Add("source", role), ledger = Add("ledger", "ledger");
        source.Settings["CALLS"] = $"{calls}";
        source.Settings["BURST"] = $"{burst}";
        return (source, ledger);
    }

    /// <summary>Waits for the source's verdict and checks it: equal, and of at least so many calls.</summary>
    public static void AssertEqual(Replica source, int calls, TimeSpan? patience = null)
    {
        string verdict = source.Lines.Await("verdict", static line => line.StartsWith("verdict ", StringComparison.Ordinal), 0,
            patience ?? Patience);
        Assert.StartsWith("verdict equal: expected ", verdict);
        Assert.True(long.Parse(verdict.Split(' ')[3]) >= calls, verdict);
    }

    /// <summary>No coordinator has ended by a decision of its own.</summary>
    public void AssertNoneGaveUp()
    {
        foreach (Replica replica in _replicas)
            if (replica.Lines.Find(
                static line => line.StartsWith("exit ", StringComparison.Ordinal)
                    || line.StartsWith("Unhandled exception", StringComparison.Ordinal)) is { } line)
                Assert.Fail($"{replica.Name}: {line}\n{replica.Lines}");
    }

    /// <summary>Polls until it holds.</summary>
    public static void Await(string what, Func<bool> holds, TimeSpan? patience = null)
    {
        long begun = Stopwatch.GetTimestamp();
        while (!holds())
        {
            if (Stopwatch.GetElapsedTime(begun) > (patience ?? Patience))
                throw new TimeoutException($"not within {(patience ?? Patience).TotalSeconds:F0} s: {what}");
            Thread.Sleep(5);
        }
    }

    /// <summary>Runs the rest of a test; a failure carries the lines of all processes and how to repeat it.</summary>
    public void Run(string repeat, Action body)
    {
        try
        {
            body();
            _passed = true;
        }
        catch (Exception e)
        {
            throw new InvalidOperationException(
                $"{e.Message}\nAgain: {repeat}\nKept: {Root}\n{string.Join("\n\n", _replicas.Select(static r => r.Lines))}", e);
        }
    }

    /// <summary>The same for a test that awaits.</summary>
    public async Task RunAsync(string repeat, Func<Task> body)
    {
        Exception? failure = await Record.ExceptionAsync(body);
        Run(repeat, () => { if (failure is not null) System.Runtime.ExceptionServices.ExceptionDispatchInfo.Throw(failure); });
    }

    /// <summary>The command line that repeats a test without chance.</summary>
    public static string Again(string filter) => $"dotnet test tests/Ambrosia.EndToEnd.Tests --filter \"DisplayName~{filter}\"";

    public void Passed() => _passed = true;

    public void Dispose()
    {
        foreach (Replica replica in _replicas) replica.Dispose();
        if (_passed) Directory.Delete(Root, recursive: true);
    }
}
