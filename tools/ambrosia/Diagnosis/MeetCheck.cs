using System.Globalization;
using Ambrosia.Log.Fencing;
using Ambrosia.Log.Files;
using Ambrosia.Tools.Output;

namespace Ambrosia.Tools.Diagnosis;

/// <summary>
/// Meets the same command on another machine in a shared directory, and judges how long each sees what the other has changed already. A
/// coordinator does the same with the primary before it may claim. One thread runs it.
/// </summary>
internal static class MeetCheck
{
    private static readonly TimeSpan s_look = TimeSpan.FromMilliseconds(1);

    /// <summary>Runs the meeting and returns what this machine has seen.</summary>
    /// <param name="directory">A directory that both machines share.</param>
    /// <param name="name">The name of the meeting, which both give.</param>
    /// <param name="patience">How long one waits for the other.</param>
    /// <exception cref="ToolMisuse">Others meet there under this name, or nobody comes.</exception>
    public static IReadOnlyList<Finding> Run(IFileSystem files, string directory, string name, TimeSpan patience)
    {
        string prefix = $".ambrosia-meet.{name}.";
        string token = Environment.ProcessId.ToString(CultureInfo.InvariantCulture);
        Meeting meeting = Meeting.TryJoin(files, TimeProvider.System, directory, prefix, token, patience)
            ?? throw new ToolMisuse($"two others meet in {directory}", "or an earlier meeting was broken off",
                $"remove the files '{prefix}*' there, or take another name");
        try
        {
            foreach (bool _ in meeting.Steps()) Thread.Sleep(s_look);
        }
        catch (MeetingBrokenException broken)
        {
            throw new ToolMisuse($"nobody has come to {directory} within {patience.TotalSeconds:0} s, or the other has gone", broken.Message,
                $"run the command on both machines within that time, with the same name, remove the files '{prefix}*' if they stay, and look whether both see the same files");
        }
        return Findings(meeting.Own);
    }

    private static Finding[] Findings(Staleness late)
    {
        const string options = "mount so that names and attributes are not cached (docs/storage.md), and meet again";
        return [
            Judge("meet names", late with { Content = default, Listing = default },
                "the fence is a name: a primary that was replaced would go on", options),
            Judge("meet content", late with { Names = default, Listing = default },
                "a standby would read an old end of the log", options),
            Judge("meet listing", late with { Names = default, Content = default },
                "segments and checkpoints of the other machine would be missed", options),
        ];
    }

    private static Finding Judge(string check, Staleness late, string why, string mend) => late.Text is { } what
        ? Finding.Fail(check, what, why, mend)
        : Finding.Ok(check, "of the other's changes none was seen late");
}
