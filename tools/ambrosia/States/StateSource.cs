using Ambrosia.Coordinator.Hosting;
using Ambrosia.Coordinator.Views;
using Ambrosia.Images.Json;
using Ambrosia.Inspection.Checkpoints;
using Ambrosia.Inspection.Debugging;
using Ambrosia.Inspection.Places;
using Ambrosia.Log.Checkpoints;
using Ambrosia.Log.Files;
using Ambrosia.Log.Format;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Payloads;
using Ambrosia.Tools.Logs;
using Ambrosia.Tools.Output;

namespace Ambrosia.Tools.States;

/// <summary>
/// Has the state at places of a log: out of a checkpoint, or as an app has it that executes the log up to there. The app is started once
/// and goes from place to place. One thread.
/// </summary>
/// <param name="app">The command that starts the app; null: states are taken out of checkpoints alone.</param>
/// <param name="checkpoint">The checkpoint that the user has chosen; null: none.</param>
internal sealed class StateSource(LogDirectory log, string? app, string? checkpoint, Screen screen) : IDisposable
{
    private const string CheckpointPrefix = "ckpt:";

    private readonly CheckpointFileName[] _names = [.. CheckpointDirectory.List(log.Files, log.Path)];
    private DebugSession? _session;
    private bool _isStarted;

    /// <summary>Returns the image in the checkpoint that was chosen, or in the newest sound one.</summary>
    /// <exception cref="ToolMisuse">There is none.</exception>
    /// <exception cref="LogDamage">It is damaged.</exception>
    public TakenState InCheckpoint()
    {
        if (_names.Length == 0)
            throw new ToolMisuse("this log has no checkpoint", "its state is in no file yet", "ask again when one was taken");
        return Read(checkpoint is null ? _names : [CheckpointChoice.Find(_names, checkpoint)]);
    }

    /// <summary>Returns the image at a place: by the app if there is one, otherwise out of the checkpoint there.</summary>
    /// <exception cref="MisuseException">There is no such place, or no checkpoint there and no app.</exception>
    /// <exception cref="ViewEndedException">The app does not get there.</exception>
    /// <exception cref="LogDamage">The log or the checkpoint is damaged.</exception>
    public TakenState At(string position)
    {
        if (app is null) return Read([CheckpointAt(position)]);
        _session ??= Open(app);
        FoundPlace place = _session.Find(position);
        if (!_isStarted) _session.Start(place);
        string stopped = _session.To(place);
        if (!_isStarted)
            foreach (string line in _session.Introduction()) screen.Note(line);
        _isStarted = true;
        screen.Note(stopped);
        ViewedImage image = _session.Show();
        return new TakenState(image.Bytes, new ImageOrigin(null, _session.Place!.Value));
    }

    private DebugSession Open(string command) => new(
        new DebugOptions { LogDirectory = log.Path, Checkpoint = checkpoint, App = ["sh", "-c", $"exec {command} >&2"] },
        new PosixFileSystem(), TimeProvider.System, screen.Note);

    private CheckpointFileName CheckpointAt(string position)
    {
        if (position.StartsWith(CheckpointPrefix, StringComparison.Ordinal) && _names.Length > 0)
            return CheckpointChoice.Find(_names, position[CheckpointPrefix.Length..]);
        MessagePlace place = new PlaceFinder(log.Location, TimeProvider.System).Find(position).Place;
        foreach (CheckpointFileName name in _names)
            if (place == new MessagePlace(name.Lsn, 0)) return name;
        string near = string.Join(" and ", CheckpointChoice.Nearest(_names, $"{place.Record}").Take(2));
        throw new ToolMisuse($"the state at {place} is in no file", "the app has to execute the log up to the place",
            $"start it with --app COMMAND{(near.Length > 0 ? $", or take the nearest checkpoints: {near}" : "")}");
    }

    private TakenState Read(CheckpointFileName[] names)
    {
        using CheckpointReader reader = SoundCheckpoint.TryOpenFirst(log, names)
            ?? throw new ToolMisuse("the checkpoint is gone", "a newer one has replaced it", "ask again");
        CheckpointFileName name = reader.Header.FileName;
        return new TakenState(CheckpointImages.Read(reader), ImageOrigin.Of(name.ToString(), name.Lsn));
    }

    public void Dispose() => _session?.Dispose();
}

/// <summary>Is the image of a state, with where it is from.</summary>
internal sealed record TakenState(LargeBuffer Image, ImageOrigin Origin) : IDisposable
{
    public void Dispose() => Image.Dispose();
}
