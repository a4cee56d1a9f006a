using System.CommandLine;
using System.Globalization;
using Ambrosia.Coordinator.Hosting;
using Ambrosia.Coordinator.Replica;
using Ambrosia.Images.Json;
using Ambrosia.Images.Reading;
using Ambrosia.Inspection.Checkpoints;
using Ambrosia.Inspection.Debugging;
using Ambrosia.Inspection.Places;
using Ambrosia.Log.Checkpoints;
using Ambrosia.Log.Files;
using Ambrosia.Log.Format;
using Ambrosia.Protocol.Payloads;
using Ambrosia.Tools.Commands;
using Ambrosia.Tools.Logs;
using Ambrosia.Tools.Output;

namespace Ambrosia.Tools.States;

/// <summary>
/// The command <c>ambrosia state DIR</c> shows the state in a checkpoint as JSON. It needs neither the app nor its code: the image says
/// what it is made of. At any other place the app executes the log up to there, and only looks.
/// </summary>
internal sealed class StateToolCommand : ToolCommand
{
    private readonly Argument<string> _directory = new("DIR") { Description = "Directory of the log." };

    private readonly Option<string?> _checkpoint = new("--checkpoint")
    {
        Description = "The checkpoint: its name, its Lsn, or its number from the newest, which is 1. The newest sound one if left out.",
        HelpName = "NAME|LSN|N",
    };

    private readonly Option<string?> _at = new("--at")
    {
        Description = "The place: LSN, LSN:INDEX, a time (2026-11-21T08:00:00Z, or 15m ago), ckpt:N, call:[INSTANCE#]ID, key:TEXT, method:NAME[#N], start, end, crash or divergence. All before it is executed by the app.",
        HelpName = "POS",
    };

    private readonly Option<string?> _app = new("--app")
    {
        Description = "The command that starts the app, for the shell: it executes the log up to the place, and nothing of what it does gets out.",
        HelpName = "COMMAND",
    };

    public StateToolCommand(ToolStreams streams)
        : base(streams, "state", "Shows the state as JSON: in a checkpoint without the app, at any place with it.")
    {
        Add(_directory);
        Add(_checkpoint);
        Add(_at);
        Add(_app);
    }

    protected override int Run(ParseResult parsed, Screen screen)
    {
        LogDirectory log = LogDirectory.Open(parsed.GetRequiredValue(_directory));
        CheckpointFileName[] names = [.. CheckpointDirectory.List(log.Files, log.Path)];
        string? asked = parsed.GetValue(_checkpoint);
        if (parsed.GetValue(_at) is { } place) return ShowAt(place, parsed, log, screen);
        if (names.Length == 0)
            throw new ToolMisuse("this log has no checkpoint", "its state is in no file yet", "ask again when one was taken");
        if (asked is not null) names = [CheckpointChoice.Find(names, asked)];
        using CheckpointReader checkpoint = OpenFirstSound(log, names, out CheckpointFileName name);
        using LargeBuffer image = ReadImage(checkpoint);
        try
        {
            StateJson.Write(image, ImageOrigin.Of(name.ToString(), name.Lsn), screen.Piece, isIndented: !screen.IsJson);
        }
        catch (ImageException e)
        {
            throw new ToolMisuse("the state cannot be shown", e.Message, "use the tool of the version that wrote the image");
        }
        screen.Piece("\n"u8);
        return ToolExit.Fine;
    }

    /// <summary>Shows the state at a place that may be in no checkpoint.</summary>
    private int ShowAt(string place, ParseResult parsed, LogDirectory log, Screen screen)
    {
        if (parsed.GetValue(_app) is not { } app)
            throw new ToolMisuse("the state there is in no file", "the app has to execute the log up to the place",
                "start it with --app COMMAND, or take a checkpoint with --checkpoint; 'ambrosia log' lists them");
        using var session = new DebugSession(
            new DebugOptions { LogDirectory = log.Path, Checkpoint = parsed.GetValue(_checkpoint), App = ["sh", "-c", $"exec {app} >&2"] },
            new PosixFileSystem(), TimeProvider.System, line => screen.Note(line));
        FoundPlace found = session.Find(place);
        try
        {
            session.Start();
            screen.Note(session.To(found));
            session.WriteState(screen.Piece, isIndented: !screen.IsJson);
        }
        catch (ViewEndedException ended)
        {
            screen.Note(ended.Message);
            return ended.Code == ExitCodes.Damage ? ToolExit.Damage : ToolExit.Misuse;
        }
        screen.Piece("\n"u8);
        return ToolExit.Fine;
    }

    private static CheckpointReader OpenFirstSound(LogDirectory log, CheckpointFileName[] names, out CheckpointFileName name)
    {
        LogDamage? damage = null;
        foreach (CheckpointFileName each in names)
        {
            name = each;
            try
            {
                return CheckpointReader.Open(log.Files, log.PathOf(name.ToString()), log.Identity);
            }
            catch (FileNotFoundException)
            {
                // a newer one has replaced it meanwhile
            }
            catch (LogDamage found)
            {
                damage ??= found; // an older checkpoint may be sound
            }
        }
        throw damage as Exception ?? new ToolMisuse("the checkpoint is gone", "a newer one has replaced it", "ask again");
    }

    private static LargeBuffer ReadImage(CheckpointReader checkpoint)
    {
        var image = new LargeBuffer();
        while (checkpoint.Read(out CheckpointSection section, out ReadOnlySpan<byte> content))
            if (section == CheckpointSection.Image) image.Append(content);
        return image;
    }
}
