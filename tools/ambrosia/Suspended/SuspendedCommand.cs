using System.CommandLine;
using Ambrosia.Log;

namespace Ambrosia.Tools;

/// <summary>
/// ambrosia suspended DIR --build PATH: whether a new build of the app can continue the calls that are suspended in the newest checkpoint.
/// Asked before an upgrade, of the file that the build has written; neither the app nor its code is loaded.
/// </summary>
internal sealed class SuspendedCommand : ToolCommand
{
    private readonly Argument<string> _directory = new("DIR") { Description = "Directory of the log." };

    private readonly Option<string[]> _builds = new("--build")
    {
        Description = $"The new build: its {BuildBodies.Pattern} files, or the directory that holds them.", HelpName = "PATH",
        Required = true, AllowMultipleArgumentsPerToken = true,
    };

    private readonly Option<bool> _acceptSource = new("--accept-source")
    {
        Description = "An equal source is enough, as with AMBROSIA_ACCEPT_SOURCE=1 at the app."
    };

    public SuspendedCommand(ToolStreams streams)
        : base(streams, "suspended", "Says which suspended calls of the newest checkpoint a new build of the app could not continue.")
    {
        Add(_directory);
        Add(_builds);
        Add(_acceptSource);
    }

    protected override int Run(ParseResult parsed, Screen screen)
    {
        LogPlace place = LogPlace.Open(parsed.GetRequiredValue(_directory));
        var builds = BuildBodies.Load(parsed.GetRequiredValue(_builds));
        SuspendedReport report = Report(place, builds, parsed.GetValue(_acceptSource));
        screen.Show(report);
        return report.Refused.Count == 0 ? ToolExit.Fine : ToolExit.Damage;
    }

    private static SuspendedReport Report(LogPlace place, BuildBodies builds, bool acceptSource)
    {
        LogDamage? damage = null;
        foreach (CheckpointFileName name in Checkpoints.List(place.Files, place.Directory))
        {
            try
            {
                using CheckpointReader checkpoint = CheckpointReader.Open(place.Files, place.PathOf(name.ToString()), place.Identity);
                return new SuspendedReport(name.ToString(), name.Lsn.Value, builds.Assemblies,
                    CheckpointImage.Refusals(checkpoint, builds, acceptSource));
            }
            catch (FileNotFoundException)
            {
                // removed by a newer one meanwhile
            }
            catch (LogDamage found)
            {
                damage ??= found; // an older one may be sound, and then it counts
            }
        }
        return damage is null ? new SuspendedReport(null, null, builds.Assemblies, []) : throw damage;
    }
}
