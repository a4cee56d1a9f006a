using System.CommandLine;

namespace Ambrosia.Tools;

/// <summary>ambrosia quarantine: messages whose handlers threw, under the fork policy that keeps them.</summary>
internal sealed class QuarantineCommand : Command
{
    public QuarantineCommand(ToolStreams streams)
        : base("quarantine", "Shows the messages that were set aside because their handlers threw, tries them again, or drops them.")
    {
        Add(new QuarantineListCommand(streams));
        Add(new QuarantineDecisionCommand(streams, "retry",
            "Runs the handler of a message again, at the end of the log; if it throws again, the fork policy says what follows."));
        Add(new QuarantineDecisionCommand(streams, "drop", "Forgets a message for good; what its handler had done before it threw stays."));
    }
}
