using System.Diagnostics;
using System.Text.Json.Nodes;
using System.Text.RegularExpressions;
using Ambrosia.Coordinator.Hosting;
using Ambrosia.Log.Files;
using Ambrosia.Log.Instances;
using Ambrosia.Log.Segments;
using Ambrosia.Protocol;
using Ambrosia.TestKit;

namespace Ambrosia.EndToEnd.Tests;

/// <summary>Whoever looks at a log changes nothing in its directory, and needs no more than to read it.</summary>
public sealed partial class ReadsOnlyTests
{
    private const int CopiesOfARelease = 20;

    private static Replica Ledger(Cluster cluster, int calls)
    {
        (Replica source, Replica ledger) = cluster.Pair(calls, burst: 50);
        ledger.Options.AddRange(["--checkpoint-every", "64K", "--segment", "2M"]);
        ledger.Start();
        source.Start();
        Cluster.AssertEqual(source, calls);
        Signals.Terminate(ledger.Coordinator.Id);
        ledger.AwaitExit();
        return ledger;
    }

    /// <summary>Runs the command that a user runs, on a log, and returns its exit code and what it wrote.</summary>
    private static (int Code, string Output, string Error) Debug(
        Cluster cluster, Replica of, string directory, string[] wrapper, string commands, params string[] options)
    {
        string file = Path.Combine(cluster.Root, "commands");
        File.WriteAllText(file, commands);
        return Debug(cluster, of, directory, [.. wrapper, Executables.Coordinator], Executables.App, file, options);
    }

    private static (int Code, string Output, string Error) Debug(
        Cluster cluster, Replica of, string directory, string[] coordinator, string app, string commands, params string[] options)
    {
        string[] line = [.. coordinator, "debug", "--log", directory, "--commands", commands, .. options, "--", app, of.Role];
        return Ended(Executables.StartOf(line[0], line[1..], of.Settings, cluster.Root));
    }

    private static (int Code, string Output, string Error) Ended(ProcessStartInfo start)
    {
        using var process = Process.Start(start)!;
        Task<string> error = process.StandardError.ReadToEndAsync();
        string output = process.StandardOutput.ReadToEnd();
        process.WaitForExit();
        return (process.ExitCode, output, error.Result);
    }

    [StraceFact]
    public void Debug_OfALog_OpensNothingThereForWriting()
    {
        using var cluster = new Cluster();
        cluster.Run(Cluster.Again(nameof(Debug_OfALog_OpensNothingThereForWriting)), () =>
        {
            Replica ledger = Ledger(cluster, 1_000);
            string trace = Path.Combine(cluster.Root, "trace");
            (int code, string output, string error) = Debug(cluster, ledger, ledger.LogDirectory,
                ["strace", "-f", "-o", trace, "-e", "trace=openat,open,creat,rename,renameat,renameat2,unlink,unlinkat,mkdir,link,linkat,truncate,flock"],
                "to start\nnext 5\nstate\nto end\n");
            Assert.True(code == 0, output + error);
            string[] there = [.. File.ReadLines(trace).Where(line => line.Contains(ledger.LogDirectory, StringComparison.Ordinal))];
            Assert.Contains(there, static line => line.Contains("/log.", StringComparison.Ordinal)); // it has looked
            Assert.DoesNotContain(there, static line => IsChange().IsMatch(line));
            Assert.DoesNotContain(File.ReadLines(trace), static line => line.Contains("LOCK_EX", StringComparison.Ordinal)
                && line.Contains("/log.", StringComparison.Ordinal));
        });
    }

    [GeneratedRegex("O_WRONLY|O_RDWR|O_CREAT|O_TRUNC|rename|unlink|mkdir|link\\(|linkat|truncate|creat\\(")]
    private static partial Regex IsChange();

    [Fact]
    public void Debug_OfADirectoryThatMayOnlyBeRead_ShowsTheState()
    {
        using var cluster = new Cluster();
        cluster.Run(Cluster.Again(nameof(Debug_OfADirectoryThatMayOnlyBeRead_ShowsTheState)), () =>
        {
            Replica ledger = Ledger(cluster, 1_000);
            const UnixFileMode readOnly = UnixFileMode.UserRead | UnixFileMode.UserExecute;
            UnixFileMode before = File.GetUnixFileMode(ledger.LogDirectory);
            File.SetUnixFileMode(ledger.LogDirectory, readOnly);
            try
            {
                (int code, string output, string error) = Debug(cluster, ledger, ledger.LogDirectory, [], "state\nwhere\nstate _count\nstate _cuont\n");
                Assert.True(code == 2, output + error); // the last command was misunderstood
                Assert.Contains("\"value\": 1000", output, StringComparison.Ordinal);
                Assert.Contains("$state has no '_cuont'; near it there are _count", output, StringComparison.Ordinal);
                Assert.Contains("\"_count\": 1000", output, StringComparison.Ordinal);
                Assert.Contains("the end of the log", output, StringComparison.Ordinal);
                Assert.Matches(@"\nfrom ckpt\.\S+ \(\S+\), nothing suspended, app version 1\n", output);
                Assert.Matches(@"\nthese records were executed by build [0-9a-f]+ \(.NET .*\); yours is the same\n", output);
            }
            finally
            {
                File.SetUnixFileMode(ledger.LogDirectory, before);
            }
        });
    }

    /// <summary>
    /// Another user looks, who owns the files and may change none of them, or is of the group that may read them.
    /// </summary>
    [OtherUserFact]
    public void Debug_ByAnotherUser_ShowsTheState()
    {
        using var cluster = new Cluster();
        cluster.Run(Cluster.Again(nameof(Debug_ByAnotherUser_ShowsTheState)), () =>
        {
            Replica ledger = Ledger(cluster, 1_000);
            string log = ledger.LogDirectory, programs = Path.Combine(cluster.Root, "programs"), commands = Path.Combine(cluster.Root, "commands");
            string coordinator = Path.Combine(programs, "coordinator", Path.GetFileName(Executables.Coordinator)),
                app = Path.Combine(programs, "app", Executables.AppName);
            File.WriteAllText(commands, "state _count\n");
            Shell($"mkdir {programs} && cp -r {Path.GetDirectoryName(Executables.Coordinator)} {programs}/coordinator"
                + $" && cp -r {Path.GetDirectoryName(Executables.App)} {programs}/app && chmod -R a+rX {programs} {commands}"
                + $" && chmod a+x {cluster.Root} {Path.GetDirectoryName(log)}");
            const int nobody = OtherUserFactAttribute.Nobody;
            string[] asNobody = ["setpriv", "--reuid", $"{nobody}", "--regid", $"{nobody}", "--clear-groups", coordinator];
            foreach (string rights in new[]
            {
                $"chown -R {nobody} {log} && chmod -R u=rX,go= {log}", // 0500 and 0400
                $"chown -R 0:{nobody} {log} && chmod -R u=rwX,g=rX,o= {log}", // as --log-group makes them
            })
            {
                Shell(rights);
                (int code, string output, string error) = Debug(cluster, ledger, log, asNobody, app, commands);
                Assert.True(code == 0, output + error);
                Assert.Contains("\"value\": 1000", output, StringComparison.Ordinal);
            }
            Shell($"chmod -R o= {log} && chgrp -R 0 {log}");
            foreach (string rights in new[] { $"chmod o=rX {log} {log}/instance", $"chmod -R o=rX {log}/contracts {log}/ckpt.*", $"chmod o= {log}" })
            {
                Shell(rights); // a part of it, all but the segments, and in the end nothing
                AssertRefused(log, Debug(cluster, ledger, log, asNobody, app, commands)); // who may not read it sees nothing
            }
            string[] look = [.. asNobody[..^1], app, "look", log, "end"]; // nor does a line of a test
            AssertRefused(log, Ended(Executables.StartOf(look[0], look[1..], ledger.Settings, cluster.Root)));
        });
    }

    private static void AssertRefused(string log, (int Code, string Output, string Error) ended)
    {
        Assert.True(ended.Code == 2, $"{ended.Code}: {ended.Error}");
        Assert.Contains($"the log in '{log}' cannot be read: ", ended.Error, StringComparison.Ordinal);
        Assert.Contains("Permission denied", ended.Error, StringComparison.Ordinal);
        Assert.Contains("; a log is for the user of its coordinator", ended.Error, StringComparison.Ordinal);
        Assert.Contains("; run this as that user or in that group, or on a copy", ended.Error, StringComparison.Ordinal);
    }

    private static void Shell(string line)
    {
        using Process shell = Process.Start("sh", ["-c", line]);
        shell.WaitForExit();
        Assert.Equal(0, shell.ExitCode);
    }

    /// <summary>A view holds what it began with as long as it is there, and no replica list, mark or lock tells of it.</summary>
    [Fact]
    public void View_OfALivingLog_HoldsWhatItBeganWithUntilItEnds()
    {
        var chance = new Chance();
        using var cluster = new Cluster();
        cluster.Run(chance.Again(nameof(View_OfALivingLog_HoldsWhatItBeganWithUntilItEnds)), () =>
        {
            (Replica source, Replica ledger) = Growing(cluster);
            string oldest;
            using (var looked = new LookedAt(ledger))
            {
                looked.View.To(new MessagePlace(looked.View.End, 0));
                oldest = SegmentsOf(ledger)[0];
                Cluster.Await("a log that should have been truncated", () => SegmentsOf(ledger).Length >= 4);
                Assert.Equal(oldest, SegmentsOf(ledger)[0]);
                Assert.Empty(Directory.EnumerateFiles(ledger.LogDirectory, "*.view"));
                Assert.Equal("r0", Assert.Single((JsonArray)ledger.Status()!["replicas"]!)!.GetValue<string>());
                Tool status = Tool.Run("status", "--catalog", cluster.Catalog);
                Assert.Contains($"holds {Path.GetFileName(oldest)} since", status.Output, StringComparison.Ordinal);
                Tool marks = Tool.Run("log", ledger.LogDirectory, "--records", "--kind", "checkpointMark");
                Assert.Contains("replica=r0", marks.Output, StringComparison.Ordinal);
                Assert.DoesNotContain("replica=view", marks.Output, StringComparison.Ordinal);
            }
            Cluster.Await("a log that is truncated again", () => SegmentsOf(ledger)[0] != oldest);
        });
    }

    /// <summary>What a view holds is free when its process is killed: nothing of it is left in the log's directory.</summary>
    [Fact]
    public void View_ThatIsKilled_LetsTheLogGo()
    {
        var chance = new Chance();
        using var cluster = new Cluster();
        cluster.Run(chance.Again(nameof(View_ThatIsKilled_LetsTheLogGo)), () =>
        {
            (Replica source, Replica ledger) = Growing(cluster);
            source.AwaitReady();
            Signals.Stop(source.Coordinator.Id); // what the view begins with must be there until it holds it
            using var view = new Process
            {
                StartInfo = Executables.StartOf(Executables.Coordinator,
                    ["debug", "--log", ledger.LogDirectory, "--", Executables.App, ledger.Role], ledger.Settings, cluster.Root),
            };
            view.Start();
            try
            {
                while (view.StandardOutput.ReadLine() is { } line && !line.StartsWith("stopped ", StringComparison.Ordinal)) { }
                Signals.Continue(source.Coordinator.Id);
                Cluster.Await("a view that holds a segment",
                    () => Tool.Run("status", "--catalog", cluster.Catalog).Output.Contains("holds log.", StringComparison.Ordinal));
                string oldest = SegmentsOf(ledger)[0];
                Cluster.Await("a log that should have been truncated", () => SegmentsOf(ledger).Length >= 4);
                Assert.Equal(oldest, SegmentsOf(ledger)[0]);
                view.Kill();
                Cluster.Await("a log that is truncated again", () => SegmentsOf(ledger)[0] != oldest);
            }
            finally
            {
                view.Kill();
                view.WaitForExit();
            }
        });
    }

    /// <summary>Somebody who looks for a short while, or says that nothing is to be kept, keeps nothing: and the view goes on.</summary>
    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    public void View_WithAShortHold_LetsTheLogGo(int seconds)
    {
        var chance = new Chance();
        using var cluster = new Cluster();
        cluster.Run(chance.Again(nameof(View_WithAShortHold_LetsTheLogGo)), () =>
        {
            (Replica source, Replica ledger) = Growing(cluster);
            source.AwaitReady();
            Signals.Stop(source.Coordinator.Id); // what is not held goes while the log grows: a view that has to be quick would be a race
            using var looked = new LookedAt(ledger, hold: TimeSpan.FromSeconds(seconds));
            ViewStop at = looked.View.To(new MessagePlace(looked.View.End, 0));
            Signals.Continue(source.Coordinator.Id);
            // What lies below that with which the view has begun goes at any time; that itself goes when it is not held.
            Cluster.Await("a log that is truncated although somebody looks", () => FirstKept(ledger) > looked.View.Begun);
            Assert.Equal(seconds, looked.Lines.Count(static line => line.Contains("is held no longer (--hold)", StringComparison.Ordinal)));
            using Ambrosia.Coordinator.Views.ViewedImage image = looked.View.Show(); // it stands as it stood
            if (seconds > 0) return;
            Cluster.Await("what comes next is gone", () => FirstKept(ledger) > at.Place.Record);
            ViewEndedException ended = Assert.Throws<ViewEndedException>(() => looked.View.To(new MessagePlace(looked.View.End, 0)));
            Assert.Equal(74, ended.Code);
            Assert.Matches(@"^the log at \d+ was removed before this view had executed it, since nothing held it any more\. ", ended.Message);
            Assert.Contains("--hold", ended.Message, StringComparison.Ordinal);
        });
    }

    /// <summary>A pair at work, of which the ledger's log grows and is truncated all the time.</summary>
    private static (Replica Source, Replica Ledger) Growing(Cluster cluster)
    {
        (Replica source, Replica ledger) = cluster.Pair(1_000_000, burst: 50);
        source.Settings["UNTIL"] = cluster.Until;
        source.Settings["FILL"] = "1000";
        ledger.Options.AddRange(["--checkpoint-every", "512K", "--segment", "2M"]);
        ledger.Start();
        source.Start();
        ledger.AwaitReady();
        return (source, ledger);
    }

    /// <summary>Where the oldest segment begins.</summary>
    private static Lsn FirstKept(Replica replica)
    {
        var files = new ReadOnlyFiles(new PosixFileSystem());
        return LogChain.Load(files, replica.LogDirectory, InstanceDirectory.TryRead(files, replica.LogDirectory)!).Segments[0].FirstLsn;
    }

    private static string[] SegmentsOf(Replica replica) =>
        [.. Directory.EnumerateFiles(replica.LogDirectory, "log.*").OrderBy(static path => ulong.Parse(Path.GetFileName(path).Split('.')[1]))];

    /// <summary>What is copied of a directory while it is written is a log up to some place: a view comes to its end.</summary>
    [Fact]
    public void Copy_TakenUnderLoad_IsExecutedToItsEnd()
    {
        var chance = new Chance();
        using var cluster = new Cluster();
        cluster.Run(chance.Again(nameof(Copy_TakenUnderLoad_IsExecutedToItsEnd)), () =>
        {
            (Replica source, Replica ledger) = cluster.Pair(1_000_000, burst: 50);
            source.Settings["UNTIL"] = cluster.Until;
            ledger.Options.AddRange(["--checkpoint-every", "256K", "--retain", "all", "--segment", "2M"]);
            ledger.Start();
            source.Start();
            ledger.AwaitReady();
            Lsn last = Lsn.Zero;
            for (int copy = TestScale.Rounds(CopiesOfARelease); copy >= 0; copy--)
            {
                chance.PassTime(200);
                string directory = Path.Combine(cluster.Root, $"copy{copy}");
                // The oldest first, as a shell expands names: what is copied later may be newer than what was copied before.
                using (var cp = Process.Start("sh", ["-c", $"mkdir -m 700 {directory} && cp {ledger.LogDirectory}/instance {ledger.LogDirectory}/ckpt.*.r? {ledger.LogDirectory}/log.* {directory}; true"]))
                    cp.WaitForExit();
                using var looked = new LookedAt(ledger, directory);
                Lsn end = looked.View.End;
                Assert.True(looked.View.To(new MessagePlace(end, 0)).Place.Record <= end);
                Assert.Empty(looked.Lines);
                Assert.True(end >= last, $"{end} behind {last}");
                last = end;
            }
            Assert.True(last > Lsn.Zero);
        });
    }
}
