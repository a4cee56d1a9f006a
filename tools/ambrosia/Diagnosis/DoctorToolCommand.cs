using System.CommandLine;
using Ambrosia.Log.Files;
using Ambrosia.Protocol;
using Ambrosia.Tools.Commands;
using Ambrosia.Tools.Output;

namespace Ambrosia.Tools.Diagnosis;

/// <summary>
/// The command <c>ambrosia doctor DIR</c> says whether a log is safe in a place. It writes into a directory of its own, which it removes,
/// and never into the log's.
/// </summary>
internal sealed class DoctorToolCommand : ToolCommand
{
    /// <summary>The other machine has so long to come.</summary>
    private static readonly TimeSpan s_meetMax = TimeSpan.FromMinutes(2);

    private readonly Argument<string> _directory = new("DIR") { Description = "Directory of a log, or where one is to be." };
    private readonly Option<string?> _meet = new("--meet")
    {
        Description = "Meet the same command on another machine in this directory, under this name, and measure how long each sees what the other has changed.",
        HelpName = "NAME",
    };
    private readonly Option<bool> _hold = new(LockProbeProcess.Option) { Hidden = true };

    public DoctorToolCommand(ToolStreams streams)
        : base(streams, "doctor", "Says whether a log is safe in a place: file system, mount, locks, flushes, holes, space, clock.")
    {
        Add(_directory);
        Add(_meet);
        _meet.Validators.Add(static result =>
        {
            if (result.Tokens is [var given] && !Names.IsValid(given.Value))
                result.AddError($"'{given.Value}' of --meet is no name: 1 to {Names.CharsMax} letters, digits, '_' or '-'");
        });
        Add(_hold);
    }

    protected override int Run(ParseResult parsed, Screen screen)
    {
        string directory = Path.TrimEndingDirectorySeparator(Path.GetFullPath(parsed.GetRequiredValue(_directory)));
        if (parsed.GetValue(_hold)) return LockProbeProcess.Run(directory);
        if (File.Exists(directory)) throw new ToolMisuse($"'{directory}' is a file", "a log is a directory", "give another path");
        DoctorReport report = parsed.GetValue(_meet) is { } name ? Meet(directory, name) : Examine(directory);
        screen.Show(report);
        return report.Status == FindingStatus.Fail ? ToolExit.Damage : ToolExit.Fine;
    }

    private static DoctorReport Meet(string directory, string name)
    {
        if (!Directory.Exists(directory))
            throw new ToolMisuse($"'{directory}' is not there", "two machines meet in a directory that both see", "make it, or mount what it is on");
        IReadOnlyList<Finding> findings = Probe("meet names", () => MeetCheck.Run(new PosixFileSystem(), directory, name, s_meetMax));
        return new DoctorReport(directory, true, null, findings.Max(static finding => finding.Status), findings);
    }

    private static DoctorReport Examine(string directory)
    {
        bool isThere = Directory.Exists(directory);
        string existing = NearestExisting(directory);
        var findings = new List<Finding>();
        MountPoint? mount = MountTable.Read().Find(RealPath.Of(existing));
        findings.AddRange(FileSystemCheck.Run(mount));
        if (mount is not null) findings.AddRange(MountOptionCheck.Run(mount));
        findings.AddRange(PermissionCheck.Run(directory, isThere));
        findings.AddRange(SpaceCheck.Run(existing));
        using (ProbeDirectory? probe = ProbeDirectory.TryMake(existing, isThere, findings))
        {
            if (probe is not null)
            {
                findings.AddRange(Probe("flush", () => [FlushCheck.Run(probe.Path, mount)]));
                findings.AddRange(Probe("direct writes", () => [DirectWriteCheck.Run(probe.Path)]));
                findings.AddRange(Probe("writing over", () => [OverwriteCheck.Run(probe.Path)]));
                findings.AddRange(Probe("holes", () => [HoleCheck.Run(new PosixFileSystem(), probe.Path)]));
                findings.AddRange(Probe("shared locks", () => [OpeningCheck.Run(new PosixFileSystem(), probe.Path)]));
                findings.AddRange(Probe("names", () => NameCheck.Run(probe.Path)));
                findings.AddRange(Probe("locks", () => LockCheck.Run(probe.Path)));
            }
            findings.AddRange(ClockCheck.Run(directory, isThere, TimeProvider.System));
            return new DoctorReport(directory, isThere, probe?.Path, findings.Max(static finding => finding.Status), findings);
        }
    }

    /// <summary>Runs a probe. If the disk fails it, or has no room for it, that is a finding like any other.</summary>
    private static IReadOnlyList<Finding> Probe(string check, Func<IEnumerable<Finding>> run)
    {
        try
        {
            return [.. run()];
        }
        catch (IOException e) when (IFileSystem.IsDiskFull(e))
        {
            return [
                Finding.Fail(check, e.Message, "there is no room for the probe, so there is none for a log",
                    "free some space, or choose another file system")];
        }
        catch (IOException e)
        {
            return [
                Finding.Fail(check, e.Message, "the log does the same, and ends its coordinator (74) where it fails",
                    "look at what the kernel says of the disk (dmesg), or choose another one")];
        }
    }

    private static string NearestExisting(string path)
    {
        string at = path;
        while (!Directory.Exists(at)) at = Path.GetDirectoryName(at) ?? "/";
        return at;
    }
}
