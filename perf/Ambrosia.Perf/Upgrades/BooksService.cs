// One log whose app is upgraded again and again: by a replica that takes over, or beside the running app. Two builds become each other
// in turn, and each upgrade has a higher number than the one before, which the app is told (--app-version); so thirty upgrades need two
// builds.
using System.Diagnostics;
using System.Globalization;
using System.Text.RegularExpressions;
using Ambrosia.Client;

namespace Ambrosia.Perf;

/// <summary>The processes of the books, and what becomes of them. Thread: the driver's.</summary>
internal sealed partial class BooksService : IDisposable
{
    public const string Instance = "books";

    private const string App = "books", FirstReplica = "r0", OtherReplica = "r1";

    /// <summary>Answers to keys are part of the state: so many, and those under way, which never leave.</summary>
    private const string KeysKept = "2000";

    /// <summary>A large state takes longer than what is usual; and a build with a planted fault is refused until it is ended.</summary>
    private const string ConversionMax = "10m", RehearsesFor = "12h";

    private readonly ClusterOptions _options;
    private readonly Cluster _cluster;
    private readonly Tools _tools;
    private BooksBuild _build = BooksBuild.First;
    private uint _version = 1;

    /// <param name="mebibytes">Of state.</param>
    public BooksService(ClusterOptions options, int mebibytes)
    {
        (_options, _tools) = (options, new Tools(options.Limit));
        Directory.CreateDirectory(options.Directory);
        _cluster = new Cluster(options);
        try
        {
            Primary = Add([], _build, _version);
            Primary.Start();
            _cluster.AwaitReady([Primary]);
            using ImmortalClient client = SteadyCaller.Connect(options, Instance);
            ClientProxy<IBooks> books = client.GetProxy<IBooks>();
            for (int i = 0; i < mebibytes; i++) books.HoldAsync(1).WaitAsync(options.Limit, options.Stop).GetAwaiter().GetResult();
            Primary.Checkpoint();
        }
        catch
        {
            _cluster.Dispose();
            throw;
        }
    }

    public Member Primary { get; private set; }

    /// <summary>The build that serves.</summary>
    public BooksBuild Build => _build;

    // ---- fail-overs ----

    /// <summary>A second replica of the same version, which has executed what there is.</summary>
    public Member AddStandby()
    {
        Member second = Add([], _build, _version);
        second.Start();
        _cluster.AwaitFollowing(Primary, second);
        return second;
    }

    /// <summary>Kills the primary by kill -9, app and coordinator, and returns when the other one is primary.</summary>
    public void KillPrimary(Member second)
    {
        Primary.Kill();
        _cluster.AwaitReady([second]);
        Becomes(second);
    }

    /// <summary>Ends a replica that is not primary.</summary>
    public void End(Member second) => _cluster.Remove(second);

    // ---- upgrades ----

    /// <summary>A replica with both builds rehearses, takes over, and is primary of the next version.</summary>
    public Rehearsed UpgradeByReplica()
    {
        Member next = AddUpgrader(_build.Other);
        Rehearsed rehearsed = AwaitRehearsal(next);
        Await(next, $"version {_version + 1} is in force");
        _cluster.AwaitReady([next]);
        Becomes(next);
        (_build, _version) = (_build.Other, _version + 1);
        return rehearsed;
    }

    /// <summary>The same with a conversion that throws behind the claim: the replica is primary of this version.</summary>
    public Rehearsed GiveUpByReplica()
    {
        Member next = AddUpgrader(BooksBuild.Second.With(BooksBuild.GivesUp));
        next.MayEnd = true; // that is its second app
        Rehearsed rehearsed = AwaitRehearsal(next);
        Await(next, GivenUp);
        _cluster.AwaitReady([next]);
        next.MayEnd = false;
        Becomes(next);
        return rehearsed;
    }

    /// <summary>The primary is asked to go on with the other build.</summary>
    public Rehearsed UpgradeBeside()
    {
        Ask(_build.Other, 0);
        Rehearsed rehearsed = AwaitRehearsal(Primary);
        (_build, _version) = (_build.Other, _version + 1);
        return rehearsed;
    }

    /// <summary>The same with a conversion that throws behind the shut doors: the app that serves goes on.</summary>
    public Rehearsed GiveUpBeside()
    {
        const int givenUp = 1;
        Ask(BooksBuild.Second.With(BooksBuild.GivesUp), givenUp);
        return AwaitRehearsal(Primary);
    }

    // ---- rehearsals that are refused ----

    /// <summary>A replica that follows and rehearses, and never takes over.</summary>
    public Member AddRefused()
    {
        Member next = AddUpgrader(BooksBuild.Second.With(BooksBuild.Refuses));
        Primary.MayEnd = false;
        Await(next, Refused);
        return next;
    }

    /// <summary>The command that has the primary rehearse beside its app, without end.</summary>
    public Process BeginRefusedBeside()
    {
        var begun = Process.Start(Tools.StartOf(Tools.Ambrosia, AskWords(BooksBuild.Second.With(BooksBuild.Refuses))))!;
        begun.BeginOutputReadLine();
        begun.BeginErrorReadLine();
        Await(Primary, Refused);
        return begun;
    }

    public void EndRefusedBeside(Process begun)
    {
        Signals.Interrupt(begun.Id);
        if (!begun.WaitForExit(_options.Limit)) throw new FailedRoundException("'ambrosia upgrade' does not end when it is interrupted");
        Await(Primary, GivenUp);
    }

    // ---- how often it was called ----

    /// <exception cref="FailedRoundException">A call was lost, or executed twice.</exception>
    public void RequireCount(long calls)
    {
        using ImmortalClient client = SteadyCaller.Connect(_options, Instance);
        long counted = client.GetProxy<IBooks>().CountAsync().WaitAsync(_options.Limit).GetAwaiter().GetResult();
        if (counted != calls) throw new FailedRoundException($"{counted} calls were executed, and {calls} were made");
    }

    public void Dispose() => _cluster.Dispose();

    private const string GivenUp = "upgrade to version", Refused = "rehearsal of the upgrade to version";

    private Member AddUpgrader(BooksBuild to)
    {
        Member next = Add(
            ["--upgrade-to", Text(_version + 1), "--old-app", _build.CommandAs(_version), "--upgrade-limit", ConversionMax,
                "--upgrade-within", RehearsesFor], to, _version + 1);
        Primary.MayEnd = true; // once the other one has taken over
        next.Start();
        return next;
    }

    private Member Add(IReadOnlyList<string> more, BooksBuild build, uint version)
    {
        string replica = Primary?.Replica == FirstReplica ? OtherReplica : FirstReplica;
        return _cluster.Add(Instance, replica, App, _options with
        {
            AppOf = _ => build.Words,
            OptionsOf = _ => ["--key-count", KeysKept, .. build.IsOwn(version) ? (string[])[] : ["--app-version", Text(version)], .. more],
        });
    }

    private void Becomes(Member primary)
    {
        _cluster.Remove(Primary);
        Primary = primary;
    }

    private void Ask(BooksBuild to, int expected) => _tools.Run(Tools.Ambrosia, AskWords(to), out _, expected);

    private string[] AskWords(BooksBuild to) =>
        ["upgrade", Primary.LogDirectory, "--to", to.CommandAs(_version + 1), "--limit", ConversionMax, "--within", RehearsesFor];

    private void Await(Member from, string first) =>
        _cluster.Await(line => line.From == from && line.Text.StartsWith(first, StringComparison.Ordinal), first);

    private Rehearsed AwaitRehearsal(Member from)
    {
        Line line = _cluster.Await(line => line.From == from && RehearsedLine().IsMatch(line.Text), "rehearsed");
        Match match = RehearsedLine().Match(line.Text);
        return new Rehearsed(
            long.Parse(match.Groups["bytes"].ValueSpan, CultureInfo.InvariantCulture),
            double.Parse(match.Groups["ms"].ValueSpan, CultureInfo.InvariantCulture));
    }

    private static string Text(uint number) => number.ToString(CultureInfo.InvariantCulture);

    [GeneratedRegex(@"^rehearsed at .*: a state of (?<bytes>[0-9]+) bytes becomes version [0-9]+ in (?<ms>[0-9]+) ms")]
    private static partial Regex RehearsedLine();
}

/// <summary>What a rehearsal that worked has said.</summary>
/// <param name="ImageBytes">Of the new version's state.</param>
/// <param name="Ms">So long it took; the upgrade itself is predicted to make callers wait about so long.</param>
internal sealed record Rehearsed(long ImageBytes, double Ms);
