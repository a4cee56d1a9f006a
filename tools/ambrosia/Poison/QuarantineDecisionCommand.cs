using System.CommandLine;
using System.Text.Json.Nodes;
using Ambrosia.Protocol;

namespace Ambrosia.Tools;

/// <summary>
/// ambrosia quarantine retry DIR MESSAGE, ambrosia quarantine drop DIR MESSAGE. Ends with 1 where a message that was
/// tried again threw again.
/// </summary>
internal sealed class QuarantineDecisionCommand : ToolCommand
{
    private readonly Argument<string> _directory = new("DIR") { Description = "Directory of the log." };
    private readonly Argument<string> _message = new("MESSAGE") { Description = "Its place in the log, as 'list' shows it." };

    public QuarantineDecisionCommand(ToolStreams streams, string name, string description) : base(streams, name, description)
    {
        Add(_directory);
        Add(_message);
    }

    protected override int Run(ParseResult parsed, Screen screen)
    {
        string text = parsed.GetRequiredValue(_message);
        if (!MessagePlace.TryParse(text, out MessagePlace message))
            throw new ToolMisuse($"'{text}' names no message", "a message is named by its place in the log",
                "give it as 'ambrosia quarantine list' shows it, like 4160:2");
        LogPlace place = LogPlace.Open(parsed.GetRequiredValue(_directory));
        JsonObject answer = AdminCall.Ask(place.Directory, AdminCall.PrimaryOf(place.Directory),
            new JsonObject { ["command"] = "quarantine", ["action"] = Name, ["message"] = message.ToString() });
        bool isBack = answer["setAside"] is not null;
        string outcome = isBack ? "setAside" : Name == "drop" ? "dropped" : "retried";
        screen.Show(new QuarantineDecision(message.ToString(), outcome, (uint?)answer["tries"], (string?)answer["why"]));
        return isBack ? ToolExit.Damage : ToolExit.Fine;
    }
}
