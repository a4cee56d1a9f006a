using System.CommandLine;
using Ambrosia.Tools.Commands;
using Ambrosia.Tools.Output;

namespace Ambrosia.Tools.Contracts;

/// <summary>The commands <c>ambrosia contract …</c> judge contract manifests, without the apps that they are of.</summary>
internal sealed class ContractToolCommand : Command
{
    public ContractToolCommand(ToolStreams streams)
        : base("contract", "Judges contract manifests: whether a new build breaks its callers or its log, and whether a manifest is valid.")
    {
        Add(new ContractCheckToolCommand(streams));
    }
}

/// <summary>
/// The command <c>ambrosia contract check OLD NEW</c> says whether a new build breaks callers or the log of an old one;
/// <c>ambrosia contract check FILE</c> says whether one manifest is valid. The exit code is 1 where something breaks, or is wrong.
/// </summary>
internal sealed class ContractCheckToolCommand : ToolCommand
{
    private readonly Argument<string> _old = new("OLD")
    {
        Description = "The manifest of before: a file, or the directory of a build or a log. Alone: the manifest to check, a file.",
    };

    private readonly Argument<string?> _new = new("NEW")
    {
        Description = "The manifest of the new build, in the same forms.", Arity = ArgumentArity.ZeroOrOne,
    };

    public ContractCheckToolCommand(ToolStreams streams)
        : base(streams, "check", "Says whether NEW breaks callers or logs of OLD; with one file, whether it is a valid manifest.")
    {
        Add(_old);
        Add(_new);
    }

    protected override int Run(ParseResult parsed, Screen screen)
    {
        string old = parsed.GetRequiredValue(_old);
        if (parsed.GetValue(_new) is not { } @new)
        {
            ManifestReport manifest = ManifestCheck.Check(old);
            screen.Show(manifest);
            return manifest.Valid ? ToolExit.Fine : ToolExit.Damage;
        }
        ContractReport report = ContractComparison.Compare(ManifestFiles.Load(old), ManifestFiles.Load(@new));
        screen.Show(report);
        return report.Compatible ? ToolExit.Fine : ToolExit.Damage;
    }
}
