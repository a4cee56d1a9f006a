using System.CommandLine;
using System.Globalization;
using Ambrosia.Images.Json;
using Ambrosia.Images.Reading;
using Ambrosia.Inspection.Checkpoints;
using Ambrosia.Log.Checkpoints;
using Ambrosia.Log.Format;
using Ambrosia.Protocol.Payloads;
using Ambrosia.Tools.Commands;
using Ambrosia.Tools.Logs;
using Ambrosia.Tools.Output;

namespace Ambrosia.Tools.States;

/// <summary>
/// The command <c>ambrosia state DIR</c> shows the state in a checkpoint as JSON. It needs neither the app nor its code: the image says
/// what it is made of.
/// </summary>
internal sealed class StateToolCommand : ToolCommand
{
    private readonly Argument<string> _directory = new("DIR") { Description = "Directory of the log." };

    private readonly Option<string?> _checkpoint = new("--checkpoint")
    {
        Description = "The checkpoint: its name, its Lsn, or its number from the newest, which is 1. The newest sound one if left out.",
        HelpName = "NAME|LSN|N",
    };

    public StateToolCommand(ToolStreams streams)
        : base(streams, "state", "Shows the state in a checkpoint as JSON, without the app.")
    {
        Add(_directory);
        Add(_checkpoint);
    }

    protected override int Run(ParseResult parsed, Screen screen)
    {
        LogDirectory log = LogDirectory.Open(parsed.GetRequiredValue(_directory));
        CheckpointFileName[] names = [.. CheckpointDirectory.List(log.Files, log.Path)];
        string? asked = parsed.GetValue(_checkpoint);
        if (names.Length == 0)
            throw new ToolMisuse("this log has no checkpoint", "its state is in no file yet", "ask again when one was taken");
        if (asked is not null) names = [CheckpointChoice.Find(names, asked)];
        using CheckpointReader checkpoint = OpenFirstSound(log, names, out CheckpointFileName name);
        using LargeBuffer image = ReadImage(checkpoint);
        try
        {
            StateJson.Write(image, (name.ToString(), name.Lsn), screen.Piece, isIndented: !screen.IsJson);
        }
        catch (ImageException e)
        {
            throw new ToolMisuse("the state cannot be shown", e.Message, "use the tool of the version that wrote the image");
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
