using System.Text.Json.Nodes;
using Ambrosia.Coordinator.Hosting;
using Ambrosia.Coordinator.Replica;
using Ambrosia.Log.Files;
using Ambrosia.TestKit;
using Xunit.Abstractions;

namespace Ambrosia.EndToEnd.Tests.Refusals;

/// <summary>
/// A whole coordinator in a process of its own, whose nth call of a kind the system refuses, for each n of a start, a stream, a checkpoint
/// and a stop, and of a take-over. No exception is left to the runtime, the exit code is the one that is called for, nothing hangs, and
/// nothing that was acknowledged is lost: behind the refusal the source's calls and the ledger's answers are equal.
/// </summary>
public sealed class RefusedCallsTests(ITestOutputHelper output)
{
    private const int Calls = 300;
    private const int Io = 5, Again = 11, NoMemory = 12, TooManyOfAll = 23, TooManyOfOne = 24, ProgramIsWritten = 26, NoSpace = 28,
        NoLocks = 37, Refused = 111;

    private static readonly TimeSpan s_patience = TimeSpan.FromSeconds(90);

    /// <summary>The kinds of calls with what each can be refused with.</summary>
    private static readonly (string Kind, int[] Errors)[] s_kinds =
    [
        ("open", [TooManyOfOne, TooManyOfAll, NoMemory]), ("socket", [TooManyOfOne, NoMemory]), ("accept", [TooManyOfOne, TooManyOfAll]),
        ("connect", [Refused, Again]), ("thread", [Again]), ("spawn", [Again, NoMemory, ProgramIsWritten]),
        ("memfd", [TooManyOfOne, NoMemory]),
        ("flock", [NoLocks]), ("rename", [NoSpace, Io]), ("allocate", [NoSpace]), ("write", [NoSpace, Io]), ("fdatasync", [Io]),
        ("fsync", [Io]), ("read", [Io]),
    ];

    /// <summary>Errors of these calls concern the log itself: a process that meets one may not know what the disk holds.</summary>
    private static readonly string[] s_ofTheDisk = ["flock", "rename", "allocate", "write", "fdatasync", "fsync", "read"];

    [RefusalFact]
    public void Run_WithAnyCallRefused_EndsAsCalledForAndLosesNothing() => ForEach(RunOnce);

    [RefusalFact]
    public void TakeOver_WithAnyCallRefused_EndsAsCalledForAndLosesNothing() => ForEach(TakeOverOnce);

    /// <summary>At the scale of a release each n of each kind with each of its errors, otherwise a sample of all.</summary>
    private void ForEach(Func<string, Dictionary<string, int>> run)
    {
        Dictionary<string, int> counts = run("none:0:0:0");
        List<string> all = [.. s_kinds.SelectMany(each => Enumerable.Range(1, counts[each.Kind]).SelectMany(n =>
            each.Errors.SelectMany(error => new[] { $"{each.Kind}:{n}:{error}:1", $"{each.Kind}:{n}:{error}:3" })))];
        int wanted = Math.Min(all.Count, TestScale.Rounds(40)), seed = Random.Shared.Next();
        if (TestScale.Value < 1) new Random(seed).Shuffle(System.Runtime.InteropServices.CollectionsMarshal.AsSpan(all));
        else wanted = all.Count;
        string calls = string.Join(", ", counts.Select(static each => $"{each.Value} {each.Key}"));
        output.WriteLine($"{wanted} of {all.Count}, seed {seed}: {calls}");
        foreach (string refusal in all.Take(wanted)) run(refusal);
    }

    private static Dictionary<string, int> RunOnce(string refusal)
    {
        using var cluster = new Cluster();
        (Replica source, Replica ledger) = cluster.Pair(Calls);
        string counts = Path.Combine(cluster.Root, "counts");
        Dictionary<string, int> made = [];
        cluster.Run(refusal, () =>
        {
            ledger.Start();
            ledger.AwaitReady();
            Refuse(source, refusal, cluster.Root, counts);
            source.Options.AddRange(["--app-rings"]);
            source.Start();
            Cluster.Await("the verdict or the end", () => source.Coordinator.HasExited || HasVerdict(source), s_patience);
            if (!source.Coordinator.HasExited)
            {
                _ = Ask(source, "checkpoint");
                _ = Ask(source, "status");
                Terminate(source, counts);
            }
            Judge(source, refusal, source.AwaitExit(s_patience));
            made = File.Exists(counts) ? CountsOf(counts) : made;
            Settle(source);
        });
        return made;
    }

    private static Dictionary<string, int> TakeOverOnce(string refusal)
    {
        using var cluster = new Cluster();
        (Replica source, Replica ledger) = cluster.Pair(Calls);
        source.Settings["UNTIL"] = cluster.Until;
        Replica second = cluster.Adopt(new Replica(cluster.Root, "source", "source"));
        foreach ((string name, string value) in source.Settings) second.Settings[name] = value;
        second.Options.AddRange(["--replica", "r1"]);
        string counts = Path.Combine(cluster.Root, "counts");
        Dictionary<string, int> made = [];
        cluster.Run(refusal, () =>
        {
            ledger.Start();
            ledger.AwaitReady();
            source.Start();
            source.AwaitReady();
            Refuse(second, refusal, cluster.Root, counts);
            second.Start();
            Cluster.Await("the second follows or has ended",
                () => second.Coordinator.HasExited || HasLine(second, "caught up"), s_patience);
            source.KillCoordinator();
            Cluster.Await("the second is ready or has ended", () => second.Coordinator.HasExited || IsReady(second), s_patience);
            if (!second.Coordinator.HasExited) Terminate(second, counts);
            Judge(second, refusal, second.AwaitExit(s_patience));
            made = File.Exists(counts) ? CountsOf(counts) : made;
            File.Create(cluster.Until).Dispose();
            Settle(second);
        });
        return made;
    }

    private static void Refuse(Replica replica, string refusal, string root, string counts)
    {
        foreach ((string name, string value) in new[]
        {
            ("LD_PRELOAD", RefusalFactAttribute.Library!), ("REFUSE", refusal), ("REFUSE_ROOT", root), ("REFUSE_COUNTS", counts),
            ("DOTNET_TieredCompilation", "0"), // the runtime's own threads come when they like, and are not ours to refuse
        }) replica.Settings[name] = value;
    }

    /// <summary>
    /// An end was called for: none by the runtime; misuse before the first ready alone; 74 where the disk refused; 65 where a read failed.
    /// </summary>
    private static void Judge(Replica replica, string refusal, int code)
    {
        string kind = refusal.Split(':')[0];
        bool isCalledFor = code switch
        {
            ExitCodes.Ok => true,
            ExitCodes.Misuse => !IsReady(replica),
            ExitCodes.Damage => kind == "read",
            ExitCodes.Io => s_ofTheDisk.Contains(kind),
            ExitCodes.System => !s_ofTheDisk.Contains(kind),
            _ => false,
        };
        Assert.True(isCalledFor, $"exit {code} behind {refusal}");
        string? unhandled = replica.Lines.Find(static line => line.Contains("Unhandled exception", StringComparison.Ordinal));
        Assert.True(unhandled is null, unhandled);
    }

    /// <summary>Without refusals the instance comes to its end, where calls and answers are equal.</summary>
    private static void Settle(Replica replica)
    {
        foreach (string name in new[] { "LD_PRELOAD", "REFUSE", "REFUSE_ROOT", "REFUSE_COUNTS" }) replica.Settings.Remove(name);
        if (HasVerdict(replica)) return;
        replica.Start();
        Cluster.AssertEqual(replica, Calls, s_patience);
    }

    private static bool HasVerdict(Replica replica) =>
        replica.Lines.Find(static line => line.StartsWith("verdict equal", StringComparison.Ordinal)) is not null;

    private static bool IsReady(Replica replica) =>
        replica.Lines.Find(static line => line.StartsWith("ready ", StringComparison.Ordinal)) is not null;

    private static bool HasLine(Replica replica, string part) =>
        replica.Lines.Find(line => line.Contains(part, StringComparison.Ordinal)) is not null;

    private static JsonObject? Ask(Replica replica, string command)
    {
        try
        {
            return AdminClient.Ask(new PosixFileSystem(), replica.LogDirectory, "r0", new JsonObject { ["command"] = command }, s_patience)
                .LastOrDefault();
        }
        catch (AdminUnreachableException)
        {
            return null; // the refusal was that of the admin socket, or the process has ended
        }
    }

    /// <summary>Returns how often each kind of call was made.</summary>
    private static Dictionary<string, int> CountsOf(string path) => File.ReadLines(path).Select(static line => line.Split(' '))
        .Where(static parts => parts.Length == 2).ToDictionary(static parts => parts[0], static parts => int.Parse(parts[1]));

    /// <summary>
    /// Asks it to end. The thread on which the runtime tells of a signal is the runtime's own, which ends the process where there is none.
    /// </summary>
    private static void Terminate(Replica replica, string counts)
    {
        File.Create($"{counts}.ends").Dispose();
        Signals.Terminate(replica.Coordinator.Id);
    }
}
