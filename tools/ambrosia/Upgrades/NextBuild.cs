using Ambrosia.Images.Nodes;
using Ambrosia.Inspection.Checkpoints;
using Ambrosia.Log.Checkpoints;
using Ambrosia.Log.Segments;
using Ambrosia.Protocol.Checkpoints;
using Ambrosia.Protocol.Payloads;
using Ambrosia.Suspension;
using Ambrosia.Tools.Commands;
using Ambrosia.Tools.Contracts;
using Ambrosia.Tools.Logs;
using Ambrosia.Tools.Output;
using Ambrosia.Tools.SuspendedCalls;

namespace Ambrosia.Tools.Upgrades;

/// <summary>
/// Holds a build that is to go on with a log against the newest sound checkpoint. It reads the build's files, and loads neither the app nor
/// its code.
/// </summary>
internal static class NextBuild
{
    /// <summary>Says what an upgrade to the build would refuse, lose or begin anew.</summary>
    /// <param name="directory">The directory of the build, with all of its files.</param>
    /// <param name="acceptSource">A suspended method whose source is equal goes on.</param>
    /// <param name="asVersion">It goes on as this version; null: as the one that it states.</param>
    /// <exception cref="ToolMisuse">There is no checkpoint, or no build.</exception>
    public static UpgradeReport Judge(LogDirectory log, string directory, bool acceptSource, uint? asVersion = null)
    {
        using BuildTypes build = BuildTypes.Load(directory);
        ContractModel before = ManifestFiles.Load(log.Path), now = ManifestFiles.Load(directory);
        using CheckpointReader checkpoint = SoundCheckpoint.TryOpenNewest(log) ?? throw new ToolMisuse(
            "this log has no checkpoint", "its state is in no file yet", "take one with 'ambrosia checkpoint', and ask again");
        try
        {
            return Report(log, checkpoint, build, (directory, acceptSource), asVersion).With(before, now);
        }
        catch (FileNotFoundException) when (build.Missing is { } name)
        {
            throw new ToolMisuse($"'{directory}' cannot be judged",
                $"its types refer to the assembly {name}, which lies neither in it nor in a framework of .NET on this machine",
                "give a build with all of its files, as 'dotnet publish' makes it, or ask where its frameworks are installed");
        }
    }

    /// <summary>
    /// Returns what is suspended and could not go on, or goes on in a kept body. An app of both versions first goes on with it in the old
    /// class, which must be able to, and then in the new one.
    /// </summary>
    /// <param name="immortal">The class of the image.</param>
    /// <param name="made">The class that a constructor makes of it; null: none does.</param>
    private static BodyFindings Suspended(
        CheckpointReader checkpoint, (string Directory, bool AcceptSource) of, string immortal, Type? made)
    {
        bool hasBodies = Directory.EnumerateFiles(of.Directory, BuildMethodBodies.Pattern).Any();
        BuildMethodBodies bodies = hasBodies ? BuildMethodBodies.Load([of.Directory]) : BuildMethodBodies.None;
        checkpoint.Rewind();
        BodyFindings asItIs = SuspendedCallsCheck.Judge(checkpoint, bodies, of.AcceptSource);
        if (made is null || asItIs.Refusals.Count > 0) return asItIs;
        checkpoint.Rewind();
        return SuspendedCallsCheck.Judge(checkpoint, bodies, of.AcceptSource, was =>
            !was.Id.StartsWith($"{immortal}.", StringComparison.Ordinal) ? was
                : was with { Assembly = made.Assembly.GetName().Name!, Id = made.FullName + was.Id[immortal.Length..] });
    }

    private static UpgradeReport Report(
        LogDirectory log, CheckpointReader checkpoint, BuildTypes build, (string Directory, bool AcceptSource) of, uint? asVersion)
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
        var findings = new List<UpgradeFinding>(new StateComparison(build).Compare(types, tree.Enums(), immortal));
        uint? version = null;
        Type? made = null;
        if (build.Find(immortal) is { } same)
        {
            made = build.NextOf(same);
            Type next = made ?? same;
            version = asVersion ?? BuildTypes.VersionOf(next);
            if (version <= inForce)
                findings.Add(new UpgradeFinding(
                    UpgradeVerdict.Refused, immortal, $"it states version {version}, and the log is of version {inForce}",
                    "raise [AppVersion]"));
            if (made is not null)
                findings.Add(new UpgradeFinding(
                    UpgradeVerdict.Fine, immortal, $"a constructor makes {made.FullName} of it, which the rehearsal tries", ""));
            findings.AddRange(WaitingWork.Missing(tree.Session, build, next));
        }
        BodyFindings suspended = Suspended(checkpoint, of, immortal, made);
        CheckpointHeader header = checkpoint.Header;
        return new UpgradeReport(
            header.FileName.ToString(), header.Lsn.Value, inForce, version, findings, suspended.Refusals, suspended.Kept,
            new ContractReport([], []));
    }
}
