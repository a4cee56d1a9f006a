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
    private const int EachUpTo = 120, OneIn = 20;
    private const string Variable = "AMBROSIA_E2E_REFUSAL";
    private const int Short = 0, Interrupted = 4, Io = 5, Again = 11, NoMemory = 12, Invalid = 22, TooManyOfAll = 23, TooManyOfOne = 24,
        ProgramIsWritten = 26, NoSpace = 28, BrokenPipe = 32, NoLocks = 37, NotSupported = 95, InUse = 98, NotAvailable = 99, Aborted = 103,
        Reset = 104, NoBuffers = 105, Refused = 111;

    private static readonly TimeSpan s_patience = TimeSpan.FromSeconds(90);

    /// <summary>The kinds of calls with what each can be refused with; a transfer may be short.</summary>
    private static readonly (string Kind, int[] Errors)[] s_kinds =
    [
        ("open", [TooManyOfOne, TooManyOfAll, NoMemory, Io]), ("list", [TooManyOfOne, NoMemory, Io]), ("stat", [Io, NoMemory]),
        ("space", [Io]), ("make", [NoSpace]), ("unlink", [Io]), ("link", [Io, NoSpace]), ("rename", [NoSpace, Io]),
        ("flock", [NoLocks, Interrupted]), ("allocate", [NoSpace, Interrupted, NotSupported]), ("truncate", [NoSpace, Io, Interrupted]),
        ("write", [NoSpace, Io, Interrupted, Short]), ("fdatasync", [Io, Interrupted]), ("fsync", [Io, Interrupted]),
        ("read", [Io, Interrupted, Short]), ("seek", [Io, Invalid]), ("map", [NoMemory]), ("memfd", [TooManyOfOne, NoMemory]),
        ("socket", [TooManyOfOne, NoMemory]), ("bind", [InUse]), ("listen", [InUse]), ("sockopt", [NoBuffers, Invalid]),
        ("accept", [TooManyOfOne, TooManyOfAll, NoMemory, Aborted]), ("connect", [Refused, Again, NotAvailable]),
        ("receive", [Reset, NoMemory, Short]), ("send", [Reset, BrokenPipe, NoBuffers, Short]), ("poll", [NoMemory, Interrupted]),
        ("thread", [Again]), ("spawn", [Again, NoMemory, ProgramIsWritten]),
    ];

    /// <summary>Calls on files. What is refused there may concern the log, so that what the disk holds may not be known.</summary>
    private static readonly string[] s_ofTheDisk =
    [
        "list", "stat", "space", "make", "unlink", "link", "rename", "flock", "allocate", "truncate", "write", "fdatasync", "fsync", "read",
        "seek",
    ];

    /// <summary>What the system refuses for now says nothing of a disk, whatever was called.</summary>
    private static readonly int[] s_limits = [Again, NoMemory, TooManyOfOne, TooManyOfAll];

    [RefusalFact]
    public void Run_WithAnyCallRefused_EndsAsCalledForAndLosesNothing() => ForEach(RunOnce);

    [RefusalFact]
    public void TakeOver_WithAnyCallRefused_EndsAsCalledForAndLosesNothing() => ForEach(TakeOverOnce);

    /// <summary>The control: a thread that leaves an exception to the runtime is found.</summary>
    [RefusalFact]
    public void Run_OfAPlantedThreadWithoutACatch_IsFound()
    {
        using var cluster = new Cluster();
        Replica planted = cluster.Add("planted", "none");
        planted.Program = Executables.App;
        const string refusal = "open:5:24:1";
        cluster.Run(Repeat(refusal), () =>
        {
            Refuse(planted, refusal, cluster.Root, Path.Combine(cluster.Root, "counts"));
            planted.Start(withApp: false);
            int code = planted.AwaitExit(s_patience);
            Assert.Equal(128 + 6, code); // SIGABRT
            Assert.ThrowsAny<Exception>(() => Judge(planted, refusal, code));
        });
    }

    /// <summary>The control of the codes: what was not called for is found, whatever was refused.</summary>
    [Theory]
    [InlineData("open:1:24:1", ExitCodes.Io, false)]
    [InlineData("open:1:24:1", ExitCodes.System, true)]
    [InlineData("open:1:5:1", ExitCodes.Io, true)]
    [InlineData("write:1:28:1", ExitCodes.Io, true)]
    [InlineData("write:1:4:1", ExitCodes.Io, false)]
    [InlineData("write:1:0:1", ExitCodes.System, false)]
    [InlineData("write:1:5:1", ExitCodes.Damage, false)]
    [InlineData("read:1:5:1", ExitCodes.Damage, true)]
    [InlineData("thread:1:11:1", ExitCodes.Io, false)]
    [InlineData("connect:1:111:1", ExitCodes.Misuse, false)]
    [InlineData("thread:1:11:1", 128 + 6, false)]
    [InlineData("thread:1:11:1", ExitCodes.Ok, true)]
    public void IsCalledFor_EachCode_OnlyWhereTheRefusalExplainsIt(string refusal, int code, bool isCalledFor) =>
        Assert.Equal(isCalledFor, IsCalledFor(refusal, code, wasReady: true));

    /// <summary>
    /// A release refuses each n of each kind, twice: with one of the kind's errors and then with another, once or three times in a row.
    /// Behind the first of a kind are those of loops that wait, and one in so many of them is drawn. A commit has a sample of all. The
    /// variable repeats one refusal (its whole text), or tries all of a kind (its beginning).
    /// </summary>
    private void ForEach(Func<string, Dictionary<string, int>> run)
    {
        Dictionary<string, int> counts = run("none:0:0:0");
        var random = new Random(Random.Shared.Next());
        string[] all = [.. AllOf(counts, random)];
        random.Shuffle(all);
        int wanted = TestScale.Value < 1 ? Math.Min(all.Length, TestScale.Rounds(40)) : all.Length;
        if (Environment.GetEnvironmentVariable(Variable) is { } wants)
        {
            all = wants.Contains(':') ? [wants] : [.. all.Where(each => each.StartsWith($"{wants}:", StringComparison.Ordinal))];
            wanted = all.Length;
        }
        string calls = string.Join(", ", counts.Select(static each => $"{each.Value} {each.Key}"));
        output.WriteLine($"{wanted} of {all.Length}: {calls}");
        List<string> failures = [];
        foreach (string refusal in all.Take(wanted))
        {
            if (Record.Exception(() => run(refusal)) is { } failure) failures.Add(failure.Message);
        }
        Assert.True(failures.Count == 0, $"{failures.Count} of {wanted}:\n\n{string.Join("\n\n", failures)}");
    }

    private static IEnumerable<string> AllOf(Dictionary<string, int> counts, Random random)
    {
        foreach ((string kind, int[] errors) in s_kinds)
            for (int n = 1; n <= counts[kind]; n++)
            {
                if (n > EachUpTo && random.Next(OneIn) != 0) continue;
                int first = random.Next(errors.Length), times = random.Next(2) == 0 ? 1 : 3;
                yield return $"{kind}:{n}:{errors[first]}:{times}";
                yield return $"{kind}:{n}:{errors[(first + 1) % errors.Length]}:{4 - times}";
            }
    }

    private static Dictionary<string, int> RunOnce(string refusal)
    {
        using var cluster = new Cluster();
        (Replica source, Replica ledger) = cluster.Pair(Calls);
        string counts = Path.Combine(cluster.Root, "counts");
        Dictionary<string, int> made = [];
        cluster.Run(Repeat(refusal), () =>
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
        cluster.Run(Repeat(refusal), () =>
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

    private static string Repeat(string refusal) => $"{Variable}={refusal} {Cluster.Again(nameof(RefusedCallsTests))}";

    private static void Refuse(Replica replica, string refusal, string root, string counts)
    {
        foreach ((string name, string value) in new[]
        {
            ("LD_PRELOAD", RefusalFactAttribute.Library!), ("REFUSE", refusal), ("REFUSE_ROOT", root), ("REFUSE_COUNTS", counts),
            ("DOTNET_TieredCompilation", "0"), // the runtime's own threads come when they like, and are not ours to refuse
        }) replica.Settings[name] = value;
    }

    /// <summary>
    /// An end was called for: none by the runtime; misuse before the first ready alone; 74 where the disk refused; 65 where a file could
    /// not be read; 71 where what the system has of a kind had run out.
    /// </summary>
    private static bool IsCalledFor(string refusal, int code, bool wasReady)
    {
        string[] parts = refusal.Split(':');
        int error = int.Parse(parts[2]);
        if (code == ExitCodes.Ok) return true;
        if (error is Short or Interrupted) return false;
        bool isOfTheDisk = (s_ofTheDisk.Contains(parts[0]) || error == Io) && !s_limits.Contains(error);
        return code switch
        {
            ExitCodes.Misuse => !wasReady,
            ExitCodes.Damage => error == Io && parts[0] is "read" or "seek" or "open",
            ExitCodes.Io => isOfTheDisk,
            ExitCodes.System => !isOfTheDisk,
            _ => false,
        };
    }

    private static void Judge(Replica replica, string refusal, int code)
    {
        Assert.True(IsCalledFor(refusal, code, IsReady(replica)), $"exit {code} behind {refusal}");
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
