using System.Text.Json.Nodes;
using Ambrosia.Coordinator.Hosting;
using Ambrosia.Coordinator.Replica;
using Ambrosia.Coordinator.Views;
using Ambrosia.Inspection.Cuts;
using Ambrosia.Inspection.Debugging;
using Ambrosia.Inspection.Masking;
using Ambrosia.Inspection.Places;
using Ambrosia.Log.Checkpoints;
using Ambrosia.Log.Cutting;
using Ambrosia.Log.Files;
using Ambrosia.Log.Format;
using Ambrosia.Log.Instances;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Payloads;
using Ambrosia.Tools.Logs;
using Ambrosia.Tools.Output;

namespace Ambrosia.Tools.Cuts;

/// <summary>
/// Makes a cut in a directory beside the one that it is to have, and gives it its name when it is whole. With a build it says what was done
/// then: the build executes the cut itself, so that what it needs is in it. One thread, one use.
/// </summary>
/// <param name="app">The command that starts the build; null: none does.</param>
/// <param name="masking">Replaces values in it; null: it is as the log is.</param>
internal sealed class CutMaker(LogDirectory log, string directory, string? app, CutMasking? masking, Screen screen)
{
    private readonly string _unfinished =
        Path.Combine(Path.GetDirectoryName(directory) ?? "/", $".{Path.GetFileName(directory)}.{Guid.NewGuid():N}");

    /// <summary>Makes the cut, or leaves nothing behind.</summary>
    /// <exception cref="LogDamage">The log is damaged in the stretch, or before.</exception>
    /// <exception cref="IOException">There is no room for it.</exception>
    public MadeCut Make(FoundPlace place, CutBeginning beginning)
    {
        var to = new PosixFileSystem();
        to.CreateDirectory(_unfinished);
        try
        {
            Lsn goal = place.IsEnd ? place.Place.Record : place.Place.Record + 1;
            if (masking is not null) screen.WithProgress("read", goal - beginning.From, done =>
            {
                masking.Learn(beginning, goal, done);
                return 0;
            });
            LogLocation made = log.Location with { Files = to, Directory = _unfinished };
            Lsn end = Write(new LogCut(log.Location, made, masking), goal, beginning);
            var cut = new Cut
            {
                Instance = log.Identity.Name, From = beginning.From.Value, Place = $"{place.Place}", IsEnd = place.IsEnd,
                Message = $"{(masking is null || place.IsEnd ? place : new PlaceFinder(made, TimeProvider.System).Find($"{place.Place}"))}",
                Masked = masking?.Tally.Rules, Directory = _unfinished,
            };
            cut.Write();
            if (app is not null && Execute(cut, app) is { } then) (cut = cut with { Then = then }).Write();
            KeepToOwner();
            long bytes = new DirectoryInfo(_unfinished).EnumerateFiles("*", SearchOption.AllDirectories).Sum(static file => file.Length);
            to.FlushDirectory(_unfinished);
            Directory.Move(_unfinished, directory);
            to.FlushDirectory(Path.GetDirectoryName(directory) ?? "/");
            return new MadeCut(cut with { Directory = directory }, end, bytes, masking?.Tally);
        }
        catch
        {
            Directory.Delete(_unfinished, recursive: true);
            throw;
        }
    }

    /// <summary>
    /// Takes from everybody but the owner what the umask has left of any file: a cut holds what its log holds, and is copied into places
    /// that others read. Until it has its name it stands in a directory of its owner's alone.
    /// </summary>
    private void KeepToOwner()
    {
        const UnixFileMode OfFiles = UnixFileMode.UserRead | UnixFileMode.UserWrite;
        foreach (FileSystemInfo each in new DirectoryInfo(_unfinished).EnumerateFileSystemInfos("*", SearchOption.AllDirectories))
            each.UnixFileMode = each is DirectoryInfo ? OfFiles | UnixFileMode.UserExecute : OfFiles;
    }

    private Lsn Write(LogCut cut, Lsn goal, CutBeginning beginning)
    {
        Lsn end = screen.WithProgress("cut", goal - beginning.From, done => cut.Write(beginning.Name, goal, done));
        CopyBesides(cut, beginning.From, end);
        return end;
    }

    /// <summary>
    /// Copies what stands beside the log: the names of its methods, what builds have executed, and where an app died or diverged in it.
    /// </summary>
    private void CopyBesides(LogCut cut, Lsn from, Lsn end)
    {
        string contracts = log.PathOf(InstanceDirectory.Contracts);
        if (Directory.Exists(contracts))
        {
            Directory.CreateDirectory(Path.Combine(_unfinished, InstanceDirectory.Contracts));
            foreach (string name in log.Files.List(contracts).Where(static each => each.EndsWith(".json", StringComparison.Ordinal)))
                cut.Copy(Path.Combine(InstanceDirectory.Contracts, name));
        }
        foreach ((string name, Incident incident) in IncidentFiles.Of(log.Files, log.Path))
            if (incident.Place >= from.Value && incident.Place < end.Value) CopyIncident(cut, name);
    }

    /// <summary>The line with which a replica ended may name any value, so a masked cut has another.</summary>
    private void CopyIncident(LogCut cut, string name)
    {
        const string Why = "why";
        cut.Copy(name);
        string path = Path.Combine(_unfinished, name);
        if (masking is null || JsonNode.Parse(File.ReadAllBytes(path)) is not JsonObject incident || incident[Why] is null) return;
        incident[Why] = "masked";
        File.WriteAllText(path, incident.ToJsonString() + "\n");
    }

    /// <summary>Lets the build do with the cut what was done then; null: it dies of the message.</summary>
    private CutOutcome? Execute(Cut cut, string command)
    {
        var options = new DebugOptions { LogDirectory = cut.Directory, App = ["sh", "-c", $"exec {command} >&2"] };
        using var session = new DebugSession(options, new PosixFileSystem(), TimeProvider.System, screen.Note);
        session.Start(session.Find(cut.Place));
        try
        {
            CutOutcome then = session.Execute(cut);
            using ViewedImage image = session.Show();
            using FileStream file = File.Create(Path.Combine(cut.Directory, Cut.ImageName));
            for (long at = 0; at < image.Bytes.Length;)
            {
                ReadOnlySpan<byte> piece = image.Bytes.From(at);
                file.Write(piece);
                at += piece.Length;
            }
            return then;
        }
        catch (ViewEndedException ended) when (ended.Code == ExitCodes.Io && session.Place?.ToString() == cut.Place)
        {
            screen.Note($"the build dies of the message: {ended.Message}");
            return null;
        }
    }
}

/// <summary>Says what was made.</summary>
/// <param name="End">Everything below is in the cut.</param>
/// <param name="Bytes">All files together.</param>
/// <param name="Masking">What was masked; null: nothing was asked for.</param>
internal sealed record MadeCut(Cut Cut, Lsn End, long Bytes, MaskTally? Masking);
