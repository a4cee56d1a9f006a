using System.CommandLine;
using Ambrosia.Coordinator.Hosting;
using Ambrosia.Coordinator.Replica;
using Ambrosia.Images.Comparison;
using Ambrosia.Images.Paths;
using Ambrosia.Inspection.States;
using Ambrosia.Log.Format;
using Ambrosia.Tools.Commands;
using Ambrosia.Tools.Logs;
using Ambrosia.Tools.Output;

namespace Ambrosia.Tools.States;

/// <summary>
/// The command <c>ambrosia state DIR</c> shows the state in a checkpoint as JSON, or what stands at a path of it, or in what it differs
/// from another one. It needs neither the app nor its code: the image says what it is made of. At any other place the app executes the log
/// up to there, and only looks.
/// </summary>
internal sealed class StateToolCommand : ToolCommand
{
    private const int DifferencesShown = 100, DifferencesMax = 1_000_000;

    private readonly Argument<string> _directory = new("DIR") { Description = "Directory of the log." };

    private readonly Option<string?> _checkpoint = new("--checkpoint")
    {
        Description = "The checkpoint: its name, its Lsn, or its number from the newest, which is 1. The newest sound one if left out.",
        HelpName = "NAME|LSN|N",
    };

    private readonly Option<string?> _at = new("--at")
    {
        Description = "The place: LSN, LSN:INDEX, a time (2026-11-21T08:00:00Z, or 15m ago), ckpt:N, call:[INSTANCE#]ID, key:TEXT, method:NAME[#N], start, end, crash or divergence. All before it is executed by the app; a checkpoint's place needs none.",
        HelpName = "POS",
    };

    private readonly Option<string?> _app = new("--app")
    {
        Description = "The command that starts the app, for the shell: it executes the log up to the place, and nothing of what it does gets out.",
        HelpName = "COMMAND",
    };

    private readonly Option<string?> _path = new("--path")
    {
        Description = "Show only what stands there: fields by name, entries by key, elements by number, as in 'accounts[\"alice\"].Balance' or 'orders[3]'.",
        HelpName = "PATH",
    };

    private readonly Option<string?> _diff = new("--diff")
    {
        Description = "Show in what the state at this place differs from the other; 1 if it does. Two places of checkpoints need no app.",
        HelpName = "POS",
    };

    private readonly NumberOption _head = new("--head", "N", 1, DifferencesMax,
        "With --diff: show the first N differences and count the rest.", DifferencesShown);

    public StateToolCommand(ToolStreams streams)
        : base(streams, "state", "Shows the state as JSON: in a checkpoint without the app, at any place with it.")
    {
        foreach (Option option in new Option[] { _checkpoint, _at, _app, _path, _diff, _head }) Add(option);
        Add(_directory);
    }

    protected override int Run(ParseResult parsed, Screen screen)
    {
        LogDirectory log = LogDirectory.Open(parsed.GetRequiredValue(_directory));
        ImagePath? path = parsed.GetValue(_path) is { } text ? StatePaths.Parse(text) : null;
        using var source = new StateSource(log, parsed.GetValue(_app), parsed.GetValue(_checkpoint), screen);
        try
        {
            using TakenState state = parsed.GetValue(_at) is { } place ? source.At(place) : source.InCheckpoint();
            if (parsed.GetValue(_diff) is { } other) return ShowDifferences(state, other, source, path, _head.IntOf(parsed)!.Value, screen);
            StatePaths.Write(state.Image, state.Origin, path, screen.Piece, isIndented: !screen.IsJson);
        }
        catch (ViewEndedException ended)
        {
            screen.Note(ended.Message);
            return ended.Code == ExitCodes.Damage ? ExitCodes.Damage : ToolExit.Misuse;
        }
        catch (LogDamage damage)
        {
            screen.Show(DamageReport.Of(damage));
            return ExitCodes.Damage; // 1 says that two states differ
        }
        screen.Piece("\n"u8);
        return ToolExit.Fine;
    }

    private static int ShowDifferences(TakenState before, string place, StateSource source, ImagePath? path, int head, Screen screen)
    {
        using TakenState after = source.At(place);
        ImageDifferences found = StateDifferences.Of(before, after, path, head);
        StateDifferences.Show(found, before.Origin, after.Origin, screen);
        return found.AreNone ? ToolExit.Fine : ToolExit.Damage;
    }
}
