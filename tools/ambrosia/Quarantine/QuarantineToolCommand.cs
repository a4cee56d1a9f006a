using System.CommandLine;
using System.Globalization;
using System.Text.Json.Nodes;
using Ambrosia.Protocol;
using Ambrosia.Tools.Commands;
using Ambrosia.Tools.Logs;
using Ambrosia.Tools.Output;
using Ambrosia.Tools.Replicas;

namespace Ambrosia.Tools.Quarantine;

/// <summary>
/// The commands <c>ambrosia quarantine …</c> show messages whose handlers threw, under the fork policy that keeps them, and decide about
/// them.
/// </summary>
internal sealed class QuarantineToolCommand : Command
{
    public QuarantineToolCommand(ToolStreams streams)
        : base("quarantine", "Shows messages whose handlers threw, and tasks whose bodies end the app, and tries them again or drops them.")
    {
        Add(new QuarantineListToolCommand(streams));
        Add(new QuarantineDecisionToolCommand(streams, "retry",
            "Runs the handler of a message, or the body of a task, again. If the handler throws again, the fork policy says what follows."));
        Add(new QuarantineDecisionToolCommand(streams, "drop", "Forgets a message for good, or fails a task. What its handler or its body had done stays."));
    }
}

/// <summary>
/// The commands <c>ambrosia quarantine retry DIR MESSAGE</c> and <c>ambrosia quarantine drop DIR MESSAGE</c>. The exit code is 1 where the
/// handler of a message threw again.
/// </summary>
internal sealed class QuarantineDecisionToolCommand : ToolCommand
{
    private readonly Argument<string> _directory = new("DIR") { Description = "Directory of the log." };
    private readonly Argument<string> _message = new("MESSAGE") { Description = "The message, by its place in the log as 'list' shows it, or a task, like task:7." };

    public QuarantineDecisionToolCommand(ToolStreams streams, string name, string description) : base(streams, name, description)
    {
        Add(_directory);
        Add(_message);
    }

    protected override int Run(ParseResult parsed, Screen screen)
    {
        string text = parsed.GetRequiredValue(_message);
        string? name = NameOf(text);
        if (name is null)
            throw new ToolMisuse($"'{text}' names no message and no task", "a message is named by its place in the log, a task by its number",
                "give it as 'ambrosia quarantine list' shows it, like 4160:2 or task:7");
        LogDirectory log = LogDirectory.Open(parsed.GetRequiredValue(_directory));
        JsonObject answer = AdminCall.Ask(log.Path, AdminCall.PrimaryOf(log.Path),
            new JsonObject { ["command"] = "quarantine", ["action"] = Name, ["message"] = name });
        bool isBack = answer["setAside"] is not null;
        string outcome = isBack ? "setAside" : Name == "drop" ? "dropped" : "retried";
        screen.Show(new QuarantineDecisionReport(name, outcome, (uint?)answer["tries"], (string?)answer["why"]));
        return isBack ? ToolExit.Damage : ToolExit.Fine;
    }

    /// <summary>Returns the name in its one form; null: it names nothing.</summary>
    private static string? NameOf(string text)
    {
        const string prefix = "task:";
        if (MessagePlace.TryParse(text, out MessagePlace message)) return message.ToString();
        return text.StartsWith(prefix, StringComparison.Ordinal)
            && ulong.TryParse(text.AsSpan(prefix.Length), NumberStyles.None, CultureInfo.InvariantCulture, out ulong task)
            ? string.Create(CultureInfo.InvariantCulture, $"{prefix}{task}") : null;
    }
}

/// <summary>Reports what a decision about a quarantined message has done.</summary>
/// <param name="Outcome"><c>retried</c>, <c>dropped</c>, or <c>setAside</c> where it was tried again and threw again.</param>
/// <param name="Tries">How often its handler has thrown by now, or null where the message is gone.</param>
/// <param name="Why">The exception of the last try, or null where the message is gone.</param>
internal sealed record QuarantineDecisionReport(string Message, string Outcome, uint? Tries = null, string? Why = null) : IReport
{
    public void Draw(Screen screen) => screen.Line(
        Outcome == "setAside" ? $"{Message}: threw again, for the {Tries}. time, and stays set aside: {Why}" : $"{Message}: {Outcome}",
        Outcome == "setAside" ? Tone.Warning : Tone.Good);
}
