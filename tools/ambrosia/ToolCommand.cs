using System.CommandLine;
using Ambrosia.Log;
using Ambrosia.Protocol;

namespace Ambrosia.Tools;

/// <summary>
/// One command of the tool: a class, a file. It reads its options, makes a report and shows it; what it throws becomes
/// words and an exit code here.
/// </summary>
internal abstract class ToolCommand : Command
{
    private readonly ToolStreams _streams;

    protected ToolCommand(ToolStreams streams, string name, string description) : base(name, description)
    {
        _streams = streams;
        SetAction(Invoke);
    }

    /// <returns>One of <see cref="ToolExit"/>.</returns>
    protected abstract int Run(ParseResult parsed, Screen screen);

    private int Invoke(ParseResult parsed)
    {
        var screen = new Screen(_streams, parsed.GetValue(Tool.Json));
        try
        {
            int code = RunOrExplain(parsed, screen);
            screen.Flush();
            return code;
        }
        catch (OutputClosedException) // the reader of a pipe has enough
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
        catch (ToolMisuse misuse)
        {
            screen.ShowMisuse(misuse);
            return ToolExit.Misuse;
        }
        catch (LogDamage damage)
        {
            screen.Show(DamageReport.Of(damage));
            return ToolExit.Damage;
        }
        catch (ProtocolViolation violation) // met in a file it is damage
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
