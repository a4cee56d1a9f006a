using System.CommandLine;
using Ambrosia.Images.Nodes;
using Ambrosia.Inspection.Checkpoints;
using Ambrosia.Log.Checkpoints;
using Ambrosia.Log.Format;
using Ambrosia.Log.Segments;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Checkpoints;
using Ambrosia.Protocol.Payloads;
using Ambrosia.Tools.Commands;
using Ambrosia.Tools.Contracts;
using Ambrosia.Tools.Logs;
using Ambrosia.Tools.Output;
using Ambrosia.Tools.SuspendedCalls;

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
/// It reads the build's files, and loads neither the app nor its code. The exit code is 1 where the upgrade would be refused.
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

    public UpgradeCheckToolCommand(ToolStreams streams)
        : base(streams, "check", "Says what an upgrade to a new build would refuse, lose or begin anew, without loading its code.")
    {
        Add(_directory);
        Add(_build);
        Add(_acceptSource);
    }

    protected override int Run(ParseResult parsed, Screen screen)
    {
        LogDirectory log = LogDirectory.Open(parsed.GetRequiredValue(_directory));
        string directory = parsed.GetRequiredValue(_build);
        using BuildTypes build = BuildTypes.Load(directory);
        ContractModel before = ManifestFiles.Load(log.Path), now = ManifestFiles.Load(directory);
        using CheckpointReader checkpoint = SoundCheckpoint.TryOpenNewest(log) ?? throw new ToolMisuse(
            "this log has no checkpoint", "its state is in no file yet", "take one with 'ambrosia checkpoint', and ask again");
        UpgradeReport report = Report(log, checkpoint, build, Suspended(checkpoint, directory, parsed.GetValue(_acceptSource)))
            .With(before, now);
        screen.Show(report);
        return report.MayBeMade ? ToolExit.Fine : ToolExit.Damage;
    }

    /// <summary>Returns what is suspended and could not go on.</summary>
    private static IReadOnlyList<string> Suspended(CheckpointReader checkpoint, string directory, bool acceptSource)
    {
        bool hasBodies = Directory.EnumerateFiles(directory, BuildMethodBodies.Pattern).Any();
        BuildMethodBodies bodies = hasBodies ? BuildMethodBodies.Load([directory]) : BuildMethodBodies.None;
        return SuspendedCallsCheck.Refusals(checkpoint, bodies, acceptSource);
    }

    private static UpgradeReport Report(
        LogDirectory log, CheckpointReader checkpoint, BuildTypes build, IReadOnlyList<string> suspended)
    {
        var chain = LogChain.Load(log.Files, log.Path, log.Identity);
        uint inForce = chain.NewestVersion(log.Files);
        checkpoint.Rewind();
        using LargeBuffer image = CheckpointImages.Read(checkpoint);
        ImageTree tree = ImageTree.Read(image);
        IReadOnlyList<StoredType> types = tree.Types()
            ?? throw new ToolMisuse(
                "the checkpoint holds no image of a C# app", "its binding keeps state in another form", "ask with the tools of its language");
        string immortal = tree.State.TypeName;
        var findings = new List<UpgradeFinding>(new StateComparison(build).Compare(types, immortal));
        uint? version = null;
        if (build.Find(immortal) is { } same)
        {
            Type? made = build.NextOf(same);
            Type next = made ?? same;
            version = BuildTypes.VersionOf(next);
            if (version <= inForce)
                findings.Add(new UpgradeFinding(
                    UpgradeVerdict.Refused, immortal, $"it states version {version}, and the log is of version {inForce}",
                    "raise [AppVersion]"));
            if (made is not null)
                findings.Add(new UpgradeFinding(
                    UpgradeVerdict.Fine, immortal, $"a constructor makes {made.FullName} of it, which the rehearsal tries", ""));
            findings.AddRange(WaitingWork.Missing(tree.Session, build, next));
        }
        CheckpointHeader header = checkpoint.Header;
        return new UpgradeReport(
            header.FileName.ToString(), header.Lsn.Value, inForce, version, findings, suspended, new ContractReport([], []));
    }
}
