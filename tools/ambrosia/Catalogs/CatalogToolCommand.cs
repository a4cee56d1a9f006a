using System.CommandLine;
using System.Net;
using System.Net.Sockets;
using Ambrosia.Coordinator.Hosting;
using Ambrosia.Log.Fencing;
using Ambrosia.Log.Files;
using Ambrosia.Log.Format;
using Ambrosia.Log.Instances;
using Ambrosia.Tools.Commands;
using Ambrosia.Tools.Output;
using Ambrosia.Tools.Replicas;
using CRA.Catalog;

namespace Ambrosia.Tools.Catalogs;

/// <summary>The commands <c>ambrosia catalog …</c> work on a catalog as a whole, wherever it is.</summary>
internal sealed class CatalogToolCommand : Command
{
    public CatalogToolCommand(ToolStreams streams) : base("catalog", "Works on a catalog as a whole, wherever it is.") =>
        Add(new CatalogCopyToolCommand(streams));
}

/// <summary>
/// The command <c>ambrosia catalog copy FROM TO</c> moves a catalog to another place, while all its instances are stopped: every entry, and
/// the secret, without which the same coordinators would not know each other. It is refused where an instance runs, or where TO holds
/// anything else. What was interrupted is repeated, since equal entries are no obstacle.
/// </summary>
internal sealed class CatalogCopyToolCommand : ToolCommand
{
    private static readonly TimeSpan s_answerMax = TimeSpan.FromSeconds(2);

    private readonly Argument<string> _from = new("FROM") { Description = "Where the catalog is." };
    private readonly Argument<string> _to = new("TO") { Description = "Where it is to be: an empty place, or one that was copied to before." };

    public CatalogCopyToolCommand(ToolStreams streams)
        : base(streams, "copy", "Copies all entries and the secret of a catalog to another place, while all its instances are stopped.")
    {
        Add(_from);
        Add(_to);
    }

    protected override int Run(ParseResult parsed, Screen screen)
    {
        CatalogPlace from = CatalogEntries.Require(parsed.GetRequiredValue(_from));
        if (CatalogPlace.TryParse(parsed.GetRequiredValue(_to), out string wrong) is not { } to) throw new ToolMisuse(wrong, "", "");
        if (from == to) throw new ToolMisuse($"FROM and TO are the same place, {from}", "", "give another place for TO");
        ICatalog source = CatalogEntries.Open(from, screen);
        IReadOnlyList<CatalogEntry> entries = CatalogEntries.ReadAll(from, source);
        byte[] secret = SecretOf(from, source);
        RefuseTheLiving(entries);
        ICatalog target = CatalogOpening.Open(to, new PosixFileSystem(), fill => secret.CopyTo(fill), new NoteLogger(screen));
        Copy(entries, secret, to, target);
        bool isWhole = CatalogEntries.ReadAll(to, target).SequenceEqual(entries)
            && CatalogEntries.ReadAll(from, source).SequenceEqual(entries);
        screen.Show(new CatalogCopyReport(from.Text, to.Text, [.. entries.Select(static entry => $"{entry.Instance}")], isWhole));
        return isWhole ? ToolExit.Fine : ToolExit.Damage;
    }

    private static byte[] SecretOf(CatalogPlace place, ICatalog catalog)
    {
        if (place.IsDirectory && !File.Exists(Path.Combine(place.Path, DirectoryCatalog.SecretName)))
            throw new ToolMisuse($"'{place}' is no catalog", "it has no secret", "give the place that the coordinators' --catalog names");
        try
        {
            return catalog.Secret.ToArray();
        }
        catch (IOException e)
        {
            throw new ToolMisuse($"the catalog {place} cannot be read", e.Message.TrimEnd('.'), "");
        }
    }

    private static void Copy(IReadOnlyList<CatalogEntry> entries, byte[] secret, CatalogPlace to, ICatalog target)
    {
        try
        {
            if (target.All().Except(entries).FirstOrDefault() is { } other)
                throw new ToolMisuse($"the place {to} holds something else", $"its entry of {other.Instance} is not that of the catalog that is copied",
                    "give an empty place; nothing was written");
            if (!target.Secret.Span.SequenceEqual(secret))
                throw new ToolMisuse($"the place {to} has a secret of its own", "coordinators that use it know each other by that",
                    "give an empty place; nothing was written");
            foreach (CatalogEntry entry in entries)
                if (target.Publish(entry) is not PublishResult.Published and var result)
                    throw new ToolMisuse($"the entry of {entry.Instance} cannot be copied", $"{to} answers: {result}", "stop whoever writes there, and copy again");
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            throw new ToolMisuse($"the catalog cannot be written to {to}", e.Message.TrimEnd('.'), "mend that, and copy again: what is there already stays");
        }
    }

    /// <summary>
    /// A running instance would go on publishing in the old place. Where its log can be seen from here its locks say whether it runs;
    /// elsewhere whatever listens at its address is taken for it.
    /// </summary>
    private static void RefuseTheLiving(IReadOnlyList<CatalogEntry> entries)
    {
        var files = new PosixFileSystem();
        foreach (CatalogEntry entry in entries)
        {
            string? living = TryListRunning(files, entry) is { } running
                ? running is [var replica, ..] ? $"its replica '{replica}' runs on {entry.LogPath}" : null
                : entry.Replicas.FirstOrDefault(static each => Listens(each.Address)) is { } found ? $"something listens at {found.Address}, the address of '{found.Name}'"
                : null;
            if (living is not null)
                throw new ToolMisuse($"'{entry.Instance}' is not stopped", living, "stop all instances of the catalog ('ambrosia stop'), and copy again; nothing was written");
        }
    }

    private static IReadOnlyList<string>? TryListRunning(IFileSystem files, CatalogEntry entry)
    {
        try
        {
            return InstanceDirectory.TryRead(files, entry.LogPath)?.Uuid == entry.Uuid ? ReplicaLock.ListRunning(files, entry.LogPath)
                : null;
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException or LogDamage)
        {
            return null;
        }
    }

    private static bool Listens(string address)
    {
        if (!IPEndPoint.TryParse(address, out IPEndPoint? end) || end.Port == 0) return false;
        using var socket = new Socket(end.AddressFamily, SocketType.Stream, ProtocolType.Tcp);
        try
        {
            return socket.ConnectAsync(end).Wait(s_answerMax) && socket.Connected;
        }
        catch (AggregateException e) when (e.InnerException is SocketException)
        {
            return false;
        }
    }
}

/// <summary>Says what was copied, and whether both places hold the same behind it.</summary>
internal sealed record CatalogCopyReport(string From, string To, IReadOnlyList<string> Instances, bool IsWhole) : IReport
{
    public void Draw(Screen screen)
    {
        screen.Line($"{Instances.Count} {(Instances.Count == 1 ? "entry" : "entries")} and the secret: {From} -> {To}", Tone.Good);
        foreach (string instance in Instances) screen.Line($"  {instance}");
        screen.Line(IsWhole ? $"start the coordinators with --catalog {To}" : "SOMEBODY HAS CHANGED ONE OF THE TWO MEANWHILE: stop everything, and copy again",
            IsWhole ? Tone.Plain : Tone.Bad);
    }
}
