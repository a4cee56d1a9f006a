using Ambrosia.Coordinator.Hosting;
using Ambrosia.Log.Checkpoints;
using Ambrosia.Log.Files;
using Ambrosia.Log.Instances;
using Ambrosia.Protocol;
using Microsoft.Extensions.Logging.Abstractions;

namespace Ambrosia.EndToEnd.Tests;

/// <summary>A log that a view executes with the app of its replica, and what was published of it.</summary>
internal sealed class LookedAt : IDisposable
{
    private readonly string _directory;
    private readonly List<string> _lines = [];
    private readonly FoldedLog _folded;

    /// <param name="directory">The log, or a copy of it.</param>
    /// <param name="checkpoint">It begins at or below.</param>
    /// <param name="hold">It keeps what it began with for so long.</param>
    /// <param name="keepsOutputs">What the coordinator of a checkpoint says is compared, too.</param>
    public LookedAt(
        Replica of, string? directory = null, Lsn? checkpoint = null, TimeSpan? hold = null, bool keepsOutputs = false)
    {
        _directory = directory ?? of.LogDirectory;
        _folded = new FoldedLog(_directory);
        View = new ViewHost(
            new ViewOptions
            {
                LogDirectory = _directory, Checkpoint = checkpoint, Hold = hold, KeepsOutputs = keepsOutputs,
                App = ["env", .. of.Settings.Select(static each => $"{each.Key}={each.Value}"), Executables.App, of.Role],
            },
            new PosixFileSystem(), NullLogger.Instance, Tell);
        View.Start();
    }

    public ViewHost View { get; }

    /// <summary>What the view has told.</summary>
    public IReadOnlyList<string> Lines
    {
        get { lock (_lines) return [.. _lines]; }
    }

    private void Tell(string line)
    {
        lock (_lines) _lines.Add(line);
    }

    /// <summary>The checkpoints of a log, the oldest first, each with the hash of its image and its coordinator's part.</summary>
    public static (Lsn Lsn, ulong Hash, string Part)[] Published(string directory)
    {
        var files = new PosixFileSystem();
        InstanceIdentity identity = InstanceDirectory.TryRead(files, directory)!;
        return [.. CheckpointDirectory.List(files, directory).Select(name =>
        {
            using CheckpointReader reader = CheckpointReader.Open(files, Path.Combine(directory, name.ToString()), identity);
            return (name.Lsn, reader.ImageHash, Convert.ToHexString(reader.CoordinatorBytes.Span));
        }).OrderBy(static each => each.Lsn)];
    }

    /// <summary>The hash of the image at a place.</summary>
    public ulong HashAt(Lsn lsn)
    {
        ViewStop stop = View.To(new MessagePlace(lsn, 0));
        Assert.True(stop.Place.Record == lsn, $"stopped before {stop.Place} instead of {lsn}");
        using var image = View.Show();
        return image.Hash;
    }

    /// <summary>The coordinator's part of a checkpoint of the place where the app stands.</summary>
    public string PartAt(Lsn lsn) => Convert.ToHexString(View.Parts.Checkpoints.PartAt(_folded.At(lsn))!.ToBytes());

    public void Dispose() => View.Dispose();
}
