using System.CommandLine;
using Ambrosia.Tools.Commands;
using Ambrosia.Tools.Logs;
using Ambrosia.Tools.Output;

namespace Ambrosia.Tools.Upgrades;

/// <summary>The commands <c>ambrosia upgrade …</c> are about a new version of an app that is to go on with a log.</summary>
internal sealed class UpgradeToolCommand : InPlaceUpgradeToolCommand
{
    public UpgradeToolCommand(ToolStreams streams)
        : base(streams, "upgrade", "Has a running primary go on with a new version of its app; or judges one against the state of a log.")
    {
        Add(new UpgradeCheckToolCommand(streams));
    }
}

/// <summary>
/// The command <c>ambrosia upgrade check DIR --build NEW</c> says what an upgrade to a new build would meet in the newest sound checkpoint.
/// It reads the build's files, and loads neither the app nor its code. The exit code is 1 where the upgrade would be refused. With
/// <c>--test-upgrade</c> the build is run as well.
/// </summary>
internal sealed class UpgradeCheckToolCommand : ToolCommand
{
    private readonly Argument<string> _directory = new("DIR") { Description = "Directory of the log." };

    private readonly Option<string> _build = new("--build")
    {
        Description = "The directory of the new build, with all of its files.", HelpName = "PATH", Required = true,
    };

    private readonly Option<bool> _acceptSource = new("--accept-source")
    {
        Description = "Accept a method whose source is equal, as AMBROSIA_ACCEPT_SOURCE=1 does at the app."
    };

    private readonly UpgradeTrialRun _trial;

    public UpgradeCheckToolCommand(ToolStreams streams)
        : base(streams, "check", "Says what an upgrade to a new build would refuse, lose or begin anew, without loading its code.")
    {
        Add(_directory);
        Add(_build);
        Add(_acceptSource);
        _trial = new UpgradeTrialRun(this);
    }

    protected override int Run(ParseResult parsed, Screen screen)
    {
        LogDirectory log = LogDirectory.Open(parsed.GetRequiredValue(_directory));
        UpgradeReport report = NextBuild.Judge(log, parsed.GetRequiredValue(_build), parsed.GetValue(_acceptSource));
        screen.Show(report);
        if (!report.MayBeMade) return ToolExit.Damage;
        return report.Version is { } version ? _trial.Run(parsed, log, version, screen) : ToolExit.Fine;
    }
}
