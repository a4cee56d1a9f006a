using System.CommandLine;

namespace Ambrosia.Tools;

/// <summary>ambrosia log DIR: what is in a log.</summary>
internal sealed class LogCommand : ToolCommand
{
    private readonly Argument<string> _directory = new("DIR") { Description = "Directory of the log." };

    public LogCommand(ToolStreams streams) : base(streams, "log", "Shows what is in a log: segments, epochs, checkpoints.")
    {
        Add(_directory);
    }

    protected override int Run(ParseResult parsed, Screen screen)
    {
        LogPlace place = LogPlace.Open(parsed.GetRequiredValue(_directory));
        screen.Show(LogSummary.Read(place));
        return ToolExit.Fine;
    }
}
