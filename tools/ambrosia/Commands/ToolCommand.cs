using System.CommandLine;
using Ambrosia.Coordinator.Replica;
using Ambrosia.Log.Format;
using Ambrosia.Protocol;
using Ambrosia.Tools.Logs;
using Ambrosia.Tools.Output;
using CRA.Catalog;

namespace Ambrosia.Tools.Commands;

/// <summary>
/// The base of the tool's commands. A command reads its options, makes a report and shows it. This class turns what it throws into words
/// and an exit code.
/// </summary>
internal abstract class ToolCommand : Command
{
    /// <summary>Every command has this option: it shows reports as JSON.</summary>
    public static readonly Option<bool> Json = new("--json")
    {
        Description = "JSON instead of text: one object a line (docs/tools.md).", Recursive = true
    };

    private readonly ToolStreams _streams;

    protected ToolCommand(ToolStreams streams, string name, string description) : base(name, description)
    {
        _streams = streams;
        SetAction(Invoke);
    }

    /// <summary>Does what the command is for.</summary>
    /// <returns>One of <see cref="ToolExit"/>.</returns>
    protected abstract int Run(ParseResult parsed, Screen screen);

    private int Invoke(ParseResult parsed)
    {
        var screen = new Screen(_streams, parsed.GetValue(Json));
        try
        {
            int code = RunOrExplain(parsed, screen);
            screen.Flush();
            return code;
        }
        catch (OutputClosedException) // the reader of a pipe wants no more
        {
            return ToolExit.Fine;
        }
    }

    private int RunOrExplain(ParseResult parsed, Screen screen)
    {
        try
        {
            return Run(parsed, screen);
        }
        catch (MisuseException misuse)
        {
            screen.ShowMisuse(misuse);
            return ToolExit.Misuse;
        }
        catch (CatalogException catalog) // its message says what, why and how to mend it
        {
            screen.ShowMisuse(new ToolMisuse(catalog.Message.TrimEnd('.'), "", ""));
            return ToolExit.Misuse;
        }
        catch (LogDamage damage)
        {
            screen.Show(DamageReport.Of(damage));
            return ToolExit.Damage;
        }
        catch (ProtocolViolation violation) // in a file it means damage
        {
            screen.Show(DamageReport.Of(violation));
            return ToolExit.Damage;
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            screen.ShowMisuse(
                new ToolMisuse(e.Message, "", "a log is readable by the user of its coordinator (0700, 0600); run the tool as that user"));
            return ToolExit.Misuse;
        }
    }
}

/// <summary>It lists the exit codes of the tool, which mean the same for every command.</summary>
internal static class ToolExit
{
    public const int Fine = 0;

    /// <summary>There is damage, a check has failed, or two things differ that should be equal.</summary>
    public const int Damage = 1;

    public const int Misuse = 2;
}
