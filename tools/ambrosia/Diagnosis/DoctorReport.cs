namespace Ambrosia.Tools;

/// <summary>What 'ambrosia doctor' found.</summary>
/// <param name="Directory">The one asked about.</param>
/// <param name="IsThere">False: nothing is there yet, and the nearest directory above stands for it.</param>
/// <param name="Probed">Where the probes wrote: a directory of their own, gone again.</param>
/// <param name="Status">The worst of the findings.</param>
internal sealed record DoctorReport(
    string Directory, bool IsThere, string? Probed, FindingStatus Status, IReadOnlyList<Finding> Findings) : IReport
{
    public void Draw(Screen screen)
    {
        screen.Line(IsThere ? Directory : $"{Directory} (not there yet)", Tone.Heading);
        foreach (Finding finding in Findings)
        {
            string word = finding.Status switch { FindingStatus.Ok => "ok  ", FindingStatus.Warn => "warn", _ => "FAIL" };
            Tone tone = finding.Status switch { FindingStatus.Ok => Tone.Good, FindingStatus.Warn => Tone.Warning, _ => Tone.Bad };
            screen.Line($"{word}  {finding.Check,-14}  {finding.What}", tone);
            if (finding.Why is not null) screen.Line($"      why: {finding.Why}");
            if (finding.Mend is not null) screen.Line($"      mend: {finding.Mend}");
        }
        screen.Line(Status switch
        {
            FindingStatus.Ok => "a log is safe here",
            FindingStatus.Warn => "a log is safe here, within the limits named above",
            _ => "a log is NOT safe here",
        }, Status switch { FindingStatus.Ok => Tone.Good, FindingStatus.Warn => Tone.Warning, _ => Tone.Bad });
    }
}
