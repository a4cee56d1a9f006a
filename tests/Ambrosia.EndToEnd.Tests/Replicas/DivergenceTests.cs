using System.Buffers.Binary;
using System.Text.RegularExpressions;

namespace Ambrosia.EndToEnd.Tests;

/// <summary>
/// A secondary whose app makes other calls stops itself and says which call it is, and at which record; nothing that it wrote is kept.
/// </summary>
public sealed partial class DivergenceTests : ReplicaTests
{
    private const int Divergence = 70;

    /// <summary>So few calls that their log is shorter than the stretch behind which it has a digest of them (1 MiB).</summary>
    private const int CallsWithoutADigest = 800;

    /// <summary>
    /// From the first record: a checkpoint would give it the primary's state, and nothing would differ. So none is due before the calls are
    /// compared: the states differ, too, and whichever is compared first is told.
    /// </summary>
    [Fact]
    public void Secondary_WhoseCallsDiffer_NamesRecordAndCalls()
    {
        using var cluster = new Cluster();
        cluster.Run(Cluster.Again(nameof(Secondary_WhoseCallsDiffer_NamesRecordAndCalls)), () =>
        {
            (ReplicaSet source, ReplicaSet ledger) = Pair(cluster, "--checkpoint-every", "64M", "--retain", "all");
            ledger.Start(1); // first: it alone knows what it was called with, and a digest may be due at any moment
            source.Start(1);
            Replica other = Differing(source, "FILL", "8");
            Match named = AssertNamed(source, other);
            Tool log = Tool.Run("log", source.Members[0].LogDirectory, "--records", "--from", named.Groups["lsn"].Value, "--head",
                "1", "--json");
            // the call to itself that begins
            Assert.Equal((named.Groups["lsn"].Value, "source"),
                (log.Json.GetProperty("lsn").ToString(), log.Json.GetProperty("from").GetString()));
            Assert.Equal(("1", "0140", "01480000000000000000"),
                (named.Groups["number"].Value, named.Groups["expected"].Value, named.Groups["actual"].Value));
            PrintedCommand printed = AssertMessageNamed(other, $"{named.Groups["lsn"].Value}:0", "ISource.GoOn()");
            const string put = "fork #1 to ledger: ILedger.Put(number: 1, filling: h";
            Assert.Contains($"; then {put}''); now {put}'0000000000000000')", printed.Line, StringComparison.Ordinal);
            Finish(cluster, source);
        });
    }

    /// <summary>
    /// It begins with a checkpoint, behind a beginning of the log that is not there any more, and leaves out a call now and then.
    /// </summary>
    [Fact]
    public void Secondary_ThatLeavesACallOut_NamesTheOneThatIsMissing()
    {
        const ulong every = 5003; // never the last of a burst
        using var cluster = new Cluster();
        cluster.Run(Cluster.Again(nameof(Secondary_ThatLeavesACallOut_NamesTheOneThatIsMissing)), () =>
        {
            (ReplicaSet source, ReplicaSet ledger) = Pair(cluster, "--checkpoint-every", "512K", "--segment", "2M");
            ledger.Options.AddRange(["--retain", "all"]); // what it was called with from the beginning
            source.Options.AddRange(["--retain", "checkpoints=6"]); // of what the stretch needs
            ledger.Start(1);
            source.Start(1);
            string beginning = Directory.EnumerateFiles(source.Members[0].LogDirectory, "log.*.1").Order(StringComparer.Ordinal).First();
            Cluster.Await("the log's beginning is gone", () => !File.Exists(beginning));
            Match named = AssertNamed(source, Differing(source, "SKIP_EVERY", $"{every}"));
            (ulong expected, ulong actual) = (NumberOf(named.Groups["expected"].Value), NumberOf(named.Groups["actual"].Value));
            Assert.Equal((0ul, expected + 1), (expected % every, actual));
            // The primary goes on and removes what a view would begin with, so that the record is all that may be known.
            string line = source.Members[1].AwaitLine(
                "the message", static line => line.StartsWith("DIFFERENT at ", StringComparison.Ordinal));
            string place = $"{named.Groups["lsn"].Value}:0";
            if (!line.StartsWith($"DIFFERENT at or behind {place}, which cannot be executed any more", StringComparison.Ordinal))
            {
                Assert.Contains($" {place}  fork  ISource.GoOn()", line, StringComparison.Ordinal);
                Assert.Contains($" --until {place} -- ", line, StringComparison.Ordinal);
            }
            Finish(cluster, source);
        });
    }

    /// <summary>
    /// Only the own log knows what an instance has called itself with, and of a short one there is no digest. The calls between the last
    /// page that agreed and the next are held still.
    /// </summary>
    [Fact]
    public void Start_WhoseReplayMakesAnotherCallToItself_EndsBeforeItIsReady()
    {
        using var cluster = new Cluster();
        cluster.Run(Cluster.Again(nameof(Start_WhoseReplayMakesAnotherCallToItself_EndsBeforeItIsReady)), () =>
        {
            (Replica source, Replica ledger) = cluster.Pair(CallsWithoutADigest);
            ledger.Start();
            EndUndigested(source);
            source.Settings["STRAY"] = "5";
            source.Start();
            Assert.Equal(Divergence, source.AwaitExit());
            string why = source.AwaitLine("its end", static line => line.StartsWith("exit 70: ", StringComparison.Ordinal));
            Assert.Contains("differs on the channel to source", why);
            Assert.Matches(@"What differs among the last calls: call \d+ to source: expected a fork of .*; actual a fork of method \w+", why);
            Assert.Null(source.Lines.Find(static line => line.StartsWith("ready ", StringComparison.Ordinal), source.StartedAt));
            PrintedCommand printed = PrintedCommand.Of(source, "DIFFERENT at ");
            Assert.Contains("  result  ILedger.Next = 5 ", printed.Line, StringComparison.Ordinal);
            Assert.Contains(
                "; then fork #6 to source: ISource.GoOn(); now fork #6 to source: ISource.Finish();", printed.Line, StringComparison.Ordinal);
            Assert.StartsWith($"stopped before {printed.Place}  ", printed.Stop(source), StringComparison.Ordinal);
        });
    }

    /// <summary>
    /// The app alone dies, and the next one does otherwise: the coordinator that lives knows what was done, and nothing else leaves it. The
    /// app that does as the first did goes on, behind the end as well.
    /// </summary>
    [Theory]
    [InlineData("STRAY", "10", "on the channel to source: below log position ")] // one call more, behind the end of the channel to itself
    [InlineData("SKIP_EVERY", "200", "on the channel to ledger: up to log position ")] // one call less, the last but two to the ledger
    public void App_ThatDiesAloneAndReplaysOtherwise_EndsBeforeAnythingNewLeaves(string setting, string value, string how)
    {
        using var cluster = new Cluster();
        cluster.Run(Cluster.Again(nameof(App_ThatDiesAloneAndReplaysOtherwise_EndsBeforeAnythingNewLeaves)), () =>
        {
            (Replica source, Replica ledger) = cluster.Pair(calls: 200);
            string changed = Path.Combine(cluster.Root, "changed");
            source.AppWrapper = ["sh", "-c", $"[ ! -f {changed} ] || export {setting}={value}; exec \"$@\"", "app"];
            ledger.Start();
            source.Start();
            Cluster.AssertEqual(source, 200);
            source.KillApp();
            source.AwaitReady(); // it was the same
            string made = Made(source);

            File.WriteAllText(changed, "");
            source.KillApp();
            Assert.Equal(Divergence, source.AwaitExit());
            string why = source.AwaitLine("its end", static line => line.StartsWith("exit 70: ", StringComparison.Ordinal));
            Assert.Contains(how, why, StringComparison.Ordinal);
            Assert.Null(source.Lines.Find(static line => line.StartsWith("ready ", StringComparison.Ordinal), source.StartedAt));

            File.Delete(changed);
            source.Start().AwaitReady();
            Assert.Equal(made, Made(source));
        });
    }

    /// <summary>How many calls it has made, to itself and others.</summary>
    private static string Made(Replica source) => string.Join(", ", source.Status()!["outboxes"]!.AsArray()
        .Select(static outbox => $"{outbox!["calls"]} to {outbox["to"]}"));

    /// <summary>
    /// Coordinator and app were killed, the code was changed, and the log is too short for a digest: only the peer knows what was called.
    /// The peer is away at first, and nothing is removed before it has said so.
    /// </summary>
    [Fact]
    public void Start_WhoseReplayMakesOtherCallsThanThePeerHas_EndsAtItsHelloAndKeepsTheEvidence()
    {
        using var cluster = new Cluster();
        cluster.Run(Cluster.Again(nameof(Start_WhoseReplayMakesOtherCallsThanThePeerHas_EndsAtItsHelloAndKeepsTheEvidence)), () =>
        {
            (Replica source, Replica ledger) = cluster.Pair(CallsWithoutADigest);
            ledger.Start();
            EndUndigested(source);
            ledger.KillCoordinator();

            source.Options.AddRange(["--checkpoint-every", "64K", "--checkpoint-interval", "1s"]);
            source.Settings["FILL"] = "8";
            source.Settings["POKES"] = "60000";
            source.Start().AwaitReady();
            string opened = source.AwaitLine("where its log ended", static line => line.Contains("log open at ", StringComparison.Ordinal));
            long before = long.Parse(LogEnd().Match(opened).Groups["lsn"].Value);
            Cluster.Await("inputs enough for a checkpoint", () => source.Status()?["log"]?["executed"]?.GetValue<long>() > before + 128_000);
            ledger.Start();
            Assert.Equal(Divergence, source.AwaitExit());
            string why = source.AwaitLine("its end", static line => line.StartsWith("exit 70: ", StringComparison.Ordinal));
            Assert.StartsWith("exit 70: the app is not deterministic, or its code was changed: ledger has ", why);
            Assert.DoesNotContain("forget-peer", why);
            Assert.Empty(Directory.EnumerateFiles(source.LogDirectory, "ckpt.*"));
        });
    }

    /// <summary>The message is named, and the command that is printed stops just before it.</summary>
    private static PrintedCommand AssertMessageNamed(Replica diverged, string place, string message)
    {
        PrintedCommand printed = PrintedCommand.Of(diverged, "DIFFERENT at ");
        Assert.Equal(place, printed.Place);
        Assert.Contains(message, printed.Line, StringComparison.Ordinal);
        Assert.StartsWith($"stopped before {place}  ", printed.Stop(diverged), StringComparison.Ordinal);
        Assert.StartsWith($"stopped before {place}  ", printed.With("divergence").Stop(diverged), StringComparison.Ordinal);
        return printed;
    }

    /// <summary>
    /// It does its work to the end, and dies before its log, at rest, is digested. On a busy machine its log may rest for a second before
    /// that, while the ledger starts: then it goes on where it died, with no digest in its log still.
    /// </summary>
    private static void EndUndigested(Replica source)
    {
        do
        {
            source.Start("digest.beforeQuiet");
            Assert.Equal(Signals.KilledExitCode, source.AwaitExit());
        }
        while (source.Lines.Find(static line => line.StartsWith("verdict equal", StringComparison.Ordinal)) is null);
    }

    private static Replica Differing(ReplicaSet set, string setting, string value)
    {
        Replica other = set.Add();
        other.Settings[setting] = value;
        return other.Start();
    }

    private static Match AssertNamed(ReplicaSet source, Replica other)
    {
        Assert.Equal(Divergence, other.AwaitExit());
        // By the digest or by the count of calls, whichever it comes to first: the call is named behind either.
        string why = other.AwaitLine("what differs",
            static line => line.StartsWith(
                "exit 70: the app is not deterministic, or its code was changed: replay differs ", StringComparison.Ordinal));
        Assert.Empty(Directory.EnumerateFiles(source.Members[0].LogDirectory, "ckpt.*.r1"));
        Match named = Named().Match(why);
        Assert.True(named.Success, why);
        return named;
    }

    /// <summary>The first argument of a put.</summary>
    private static ulong NumberOf(string arguments)
    {
        byte[] cbor = Convert.FromHexString(arguments);
        return cbor[0] switch
        {
            0x19 => BinaryPrimitives.ReadUInt16BigEndian(cbor.AsSpan(1)),
            0x1A => BinaryPrimitives.ReadUInt32BigEndian(cbor.AsSpan(1)),
            _ => cbor[0]
        };
    }

    [GeneratedRegex(@"log open at (?<lsn>\d+),")]
    private static partial Regex LogEnd();

    [GeneratedRegex(@"By the record: executing the record at Lsn (?<lsn>\d+) .* the app makes call (?<number>\d+) to ledger: expected a fork of method (?<method>\w+), \d+ bytes: (?<expected>\w+); actual a fork of method \k<method>, \d+ bytes: (?<actual>\w+)\.")]
    private static partial Regex Named();
}
