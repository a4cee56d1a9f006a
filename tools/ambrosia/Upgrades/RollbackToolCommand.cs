using System.CommandLine;
using Ambrosia.Inspection.Places;
using Ambrosia.Log.Segments;
using Ambrosia.Protocol;
using Ambrosia.Tools.Commands;
using Ambrosia.Tools.Logs;
using Ambrosia.Tools.Output;

namespace Ambrosia.Tools.Upgrades;

/// <summary>
/// The command <c>ambrosia rollback DIR --build OLD</c> says how an upgrade can be gone back from now, and what would be lost. A log is
/// never shortened, so the way back is an upgrade to the old build, which goes on as a version of its own.
/// </summary>
internal sealed class RollbackToolCommand : ToolCommand
{
    private readonly Argument<string> _directory = new("DIR") { Description = "Directory of the log." };

    private readonly Option<string> _build = new("--build")
    {
        Description = "The directory of the old build, with all of its files.", HelpName = "PATH", Required = true,
    };

    public RollbackToolCommand(ToolStreams streams)
        : base(streams, "rollback", "Says how an upgrade can be gone back from now, and what would be lost.")
    {
        Add(_directory);
        Add(_build);
    }

    protected override int Run(ParseResult parsed, Screen screen)
    {
        LogDirectory log = LogDirectory.Open(parsed.GetRequiredValue(_directory));
        var chain = LogChain.Load(log.Files, log.Path, log.Identity);
        uint inForce = chain.NewestVersion(log.Files);
        RollbackReport rollback = chain.NewestBelow(log.Files, inForce) is not { } before
            ? new RollbackReport(null, inForce, 0, IsLast: false, null)
            : BehindUpgrade(log, (before, inForce), chain.FirstAbove(log.Files, before) ?? Lsn.Zero, parsed.GetRequiredValue(_build));
        screen.Show(rollback);
        return rollback.LosesNothing ? ToolExit.Fine : ToolExit.Damage;
    }

    private static RollbackReport BehindUpgrade(LogDirectory log, (uint Before, uint InForce) versions, Lsn at, string build)
    {
        var places = new PlaceFinder(log.Location, TimeProvider.System);
        MessagePlace upgrade = places.NextExecuted(new MessagePlace(at, 0)).Place;
        bool isLast = places.NextExecuted(upgrade with { Index = upgrade.Index + 1 }).IsEnd;
        return new RollbackReport(versions.Before, versions.InForce, at.Value, isLast,
            NextBuild.Judge(log, build, acceptSource: false, asVersion: versions.InForce + 1));
    }
}

/// <summary>Says how an upgrade can be gone back from.</summary>
/// <param name="Before">The version before the one in force; null: the log, as far as it is kept, has no other.</param>
/// <param name="At">The Upgrade stands there.</param>
/// <param name="IsLast">Nothing was executed behind it but itself.</param>
/// <param name="Build">What the old build would make of the newest checkpoint; null: there is nothing to go back from.</param>
internal sealed record RollbackReport(uint? Before, uint InForce, ulong At, bool IsLast, UpgradeReport? Build) : IReport
{
    public bool LosesNothing =>
        Build is null || (Build.MayBeMade && Build.Findings.All(static each => each.Verdict == UpgradeVerdict.Fine));

    public void Draw(Screen screen)
    {
        if (Build is null)
        {
            screen.Line($"Version {InForce} is in force, and the log, as far as it is kept, has no other.");
            screen.Line("Until an upgrade is made there is nothing to go back from: end the replica, or the command, that is to make it.");
            return;
        }
        string since = IsLast ? "nothing was executed as it but the upgrade itself" : "inputs were executed as it since";
        screen.Line($"Version {InForce} is in force behind version {Before}, from {At} on; {since}.");
        Build.Draw(screen);
        if (!Build.MayBeMade)
        {
            screen.Line("Give a build that takes the state: the old code with a constructor from the new class, as its next version (docs/upgrades.md).");
            return;
        }
        uint next = InForce + 1;
        screen.Line("The way back:");
        screen.Line($"  ImmortalCoordinator --log DIR --replica back --upgrade-to {next} --app-version {next} --old-app 'APP OF VERSION {InForce}' -- OLD APP");
        screen.Line($"  ambrosia upgrade DIR --to 'env AMBROSIA_APP_VERSION={next} OLD APP'   (under the running primary)");
        screen.Line($"Behind it the old app is started with --app-version {next}, until it is built with a higher version of its own.");
    }
}
