using System.CommandLine;
using System.Globalization;
using System.Text.Json;
using System.Text.Json.Nodes;
using Ambrosia.Coordinator.Hosting;
using Ambrosia.Inspection.Texts;
using Ambrosia.Log.Files;
using Ambrosia.Protocol.Texts;
using Ambrosia.Tools.Commands;
using Ambrosia.Tools.Logs;
using Ambrosia.Tools.Output;
using CRA.Catalog;

namespace Ambrosia.Tools.Replicas;

/// <summary>
/// The command <c>ambrosia status --catalog PLACE</c> shows every instance of a catalog and each of its replicas that runs.
/// </summary>
internal sealed class StatusToolCommand : ToolCommand
{
    private static readonly TimeSpan s_every = TimeSpan.FromSeconds(1);

    private readonly Option<string> _catalog = new("--catalog")
    {
        Description = "Where the catalog is, as the coordinators' --catalog says.", Required = true, HelpName = "PLACE"
    };
    private readonly Option<bool> _watch = new("--watch") { Description = "Show it again each second, until interrupted." };

    public StatusToolCommand(ToolStreams streams)
        : base(streams, "status", "Shows roles, epochs, positions, lag, links and kept calls of every replica that runs.")
    {
        Add(_catalog);
        Add(_watch);
    }

    protected override int Run(ParseResult parsed, Screen screen)
    {
        CatalogPlace catalog = CatalogEntries.Require(parsed.GetRequiredValue(_catalog));
        while (true)
        {
            CatalogStatus status = CatalogStatus.Read(catalog, screen);
            screen.Show(status);
            if (!parsed.GetValue(_watch)) return status.IsAtWork() ? ToolExit.Fine : ToolExit.Damage;
            if (!screen.IsJson) screen.Line();
            screen.Flush();
            Thread.Sleep(s_every);
        }
    }
}

/// <summary>
/// Reports what the replicas of a catalog's instances that answer on this machine say of themselves, at about one moment.
/// </summary>
internal sealed record CatalogStatus(string Catalog, IReadOnlyList<InstanceStatus> Instances) : IReport
{
    /// <summary>Of more links, or peers that are away, only the number is shown.</summary>
    private const int NamesMax = 10;

    /// <summary>Asks all replicas.</summary>
    public static CatalogStatus Read(CatalogPlace catalog, Screen screen)
    {
        var files = new ReadOnlyFiles();
        return new CatalogStatus(
            catalog.Text, [.. CatalogEntries.Read(catalog, screen).Select(entry => InstanceStatus.Read(files, entry.Instance, entry.Log))]);
    }

    /// <summary>True if every instance has a primary, and the app of every replica gets on and takes checkpoints.</summary>
    public bool IsAtWork() =>
        Instances.All(static i => i.Problem is null && i.Replicas.All(static replica => replica is { WaitsForApp: null, Refusal: null }));

    public void Draw(Screen screen)
    {
        if (Instances.Count == 0) screen.Line($"{Catalog} names no instance yet.");
        else screen.Table(Table());
        foreach (InstanceStatus instance in Instances)
        {
            if (instance.Problem is { } problem) screen.Line($"{instance.Instance}: {problem}", Tone.Bad);
            if (instance.Former is { } former)
                screen.Line($"{instance.Instance}: {former.Sentence()}", former.MayGo ? Tone.Good : Tone.Warning);
            if (instance.LastDeath is { } death) screen.Line($"{instance.Instance}: {Told(death)}");
            if (instance.LastDivergence is { } divergence) screen.Line($"{instance.Instance}: {Told(divergence)}");
            foreach (ReplicaStatus replica in instance.Replicas)
            {
                if (replica.WaitsForApp is { } wait) Draw(screen, instance, replica.Replica, wait);
                Draw(screen, instance.Instance, replica);
            }
        }
    }

    /// <summary>Tells of a death or a divergence, which is over: it is there to be looked at, and has no part in the exit code.</summary>
    private static string Told(Incident incident)
    {
        string when = TextFormat.Time(incident.TimeUs), place = $"the record at Lsn {incident.At}";
        if (incident.ExitCode is not { } code)
            return $"{incident.Replica} was found diverged at {when}, at {place}: {(incident.Why is { Length: > 300 } why ? why[..300] + "…" : incident.Why)}";
        string how = incident.Signal is { } signal ? $"signal {signal}" : $"exit code {code}";
        return $"the app of {incident.Replica} died at {when}, executing {place} ({how})";
    }

    private static void Draw(Screen screen, InstanceStatus instance, string replica, WaitForApp wait) => screen.Line(
        $"{instance.Instance}: " + wait.For switch
        {
            "connection" => $"{replica} has had no app for {wait.Seconds} s, and executes nothing",
            "record" =>
                $"the app of {replica} has been executing the record at Lsn {wait.Place()} for {wait.Seconds} s{(wait.Record is { } name ? $" ({name})" : "")}: '{ShellWords.Join("ambrosia", "log", instance.Log)} --records --from {wait.Lsn}' shows it",
            _ => $"the app of {replica} has been in BecomingPrimary for {wait.Seconds} s",
        }, Tone.Bad);

    private static void Draw(Screen screen, string instance, ReplicaStatus replica)
    {
        foreach (OrphanedCalls orphan in replica.Orphaned.Take(NamesMax))
        {
            string why = replica.Links.FirstOrDefault(link => link.Peer == orphan.To)?.Why is { } end ? $": {end}" : "";
            screen.Line(
                $"{instance}: {orphan.Calls} {(orphan.Calls == 1 ? "call" : "calls")} to {orphan.To} wait, and no link leads there{why}",
                Tone.Warning);
        }
        int more = replica.Orphaned.Count - NamesMax;
        if (more > 0) screen.Line($"{instance}: calls to {more} more instances wait, and no link leads there", Tone.Warning);
        if (replica.WaitsBecause is { } reason)
            screen.Line($"{instance}: {replica.Replica} waits: {reason}", Tone.Warning);
        if (replica.Upgrade is { } upgrade) screen.Line($"{instance}: {replica.Replica} {upgrade}", Tone.Warning);
        if (replica.WaitsFor is { } awaited)
            screen.Line(
                $"{instance}: the app waits for room for its outputs: {replica.SpilledBytes >> 20} MiB are on disk, most of what is kept is for {awaited}",
                Tone.Bad);
        foreach (string task in replica.TasksAside) screen.Line($"{instance}: {replica.Replica}: {task}", Tone.Bad);
        if (replica.UnheardFailures > 0)
            screen.Line(
                $"{instance}: {replica.Replica}: {replica.UnheardFailures} failures of calls and tasks were awaited by nobody", Tone.Warning);
        if (replica.Refusal is { } refusal)
            screen.Line(
                $"{instance}: error: {replica.Replica} publishes no checkpoint, since its app's state cannot be in one: {refusal}. The log grows until the app takes that out of its state",
                Tone.Bad);
        else if (replica.CheckpointFailure is { } failure)
            screen.Line($"{instance}: {replica.Replica} takes no checkpoint: {failure}", Tone.Warning);
        foreach (string told in replica.Unrestorable) screen.Line($"{instance}: {replica.Replica}: {told}", Tone.Bad);
        if (replica.Held is { } held)
            screen.Line(
                $"{instance}: a reader, or a replica that was stopped, holds {held.Segment} since {DateTimeOffset.UnixEpoch.AddMicroseconds(held.Since):u}: {held.Bytes >> 20} MiB of log stay for it, at most up to --hold-limit",
                Tone.Warning);
        LinkStatus[] stopped = [.. replica.Links.Where(static link => link.State == "stopped")];
        foreach (LinkStatus link in stopped.Take(NamesMax))
            screen.Line($"{instance}: the link to {link.Peer} is stopped: {link.Why}", Tone.Bad);
        if (stopped.Length > NamesMax) screen.Line($"{instance}: {stopped.Length - NamesMax} more links are stopped", Tone.Bad);
    }

    private TextTable Table()
    {
        var table = new TextTable("instance", "replica", "role", ">app", ">epoch", ">executed", ">durable", ">lag", ">kept calls", "links");
        foreach (InstanceStatus instance in Instances)
        {
            if (instance.Replicas.Count == 0) table.Add(instance.Instance, "-", "-", "", "", "", "", "", "", "");
            foreach (ReplicaStatus r in instance.Replicas)
                table.Add(instance.Instance, r.Replica, r.Role, Cell(r.AppVersion), Cell(r.Epoch), Cell(r.Executed), Cell(r.Durable),
                    Cell(r.LagBytes), Cell(r.KeptCalls), Cell(r.Links, r.MoreLinks));
        }
        return table;
    }

    private static string Cell(IReadOnlyList<LinkStatus> links, ulong more)
    {
        more += (ulong)Math.Max(links.Count - NamesMax, 0);
        string shown = string.Join(" ", links.Take(NamesMax).Select(static l => $"{l.Peer}:{l.State}"));
        return more == 0 ? shown : $"{shown} and {more} more";
    }

    private static string Cell(ulong? number) => number?.ToString(CultureInfo.InvariantCulture) ?? "";
}

/// <summary>It holds what is known of one instance of a catalog, with its replicas that answer on this machine.</summary>
/// <param name="Problem">Why it does not work, as seen from here, or null where it has a primary.</param>
internal sealed record InstanceStatus(string Instance, string Log, IReadOnlyList<ReplicaStatus> Replicas, string? Problem)
{
    /// <summary>The last death of an app of this instance, as its log's directory says; null: there is none.</summary>
    public Incident? LastDeath { get; init; }

    /// <summary>The version before the one in force, while the log still has records of it; null: it has none.</summary>
    public FormerVersion? Former { get; init; }

    /// <summary>The last divergence of a replica of it, likewise.</summary>
    public Incident? LastDivergence { get; init; }

    /// <summary>
    /// Asks every replica twice. What any of them knew to be durable the first time is the measure of all the second time.
    /// </summary>
    public static InstanceStatus Read(IFileSystem files, string instance, string log)
    {
        if (!Directory.Exists(log)) return new InstanceStatus(instance, log, [], $"its log {log} cannot be reached from here");
        IReadOnlyList<string> named = AdminClient.Replicas(files, log);
        ulong durable = named.Select(replica => ReplicaStatus.Number(AdminCall.Look(files, log, replica)?.Status?["log"], "durable") ?? 0)
            .DefaultIfEmpty().Max();
        string? silent = null;
        var replicas = new List<ReplicaStatus>();
        foreach (string replica in named)
        {
            RunningReplica? running = AdminCall.Look(files, log, replica);
            silent ??= running?.NoAnswer;
            if (running?.Status is not { } status) continue;
            var known = ReplicaStatus.Of(instance, replica, status, durable);
            replicas.Add(known with { WaitsForApp = known.WaitsForApp?.Named(log) });
        }
        string? problem = silent ?? (replicas.Count == 0 ? "no replica answers on this machine"
            : replicas.Any(static r => r.HasRoleOfPrimary()) ? null : "no replica is primary");
        return new InstanceStatus(instance, log, replicas, problem)
        {
            LastDeath = IncidentFiles.LastDeath(files, log), LastDivergence = IncidentFiles.LastDivergence(files, log),
            Former = FormerVersion.Find(log),
        };
    }
}
