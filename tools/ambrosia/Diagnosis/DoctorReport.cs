using Ambrosia.Tools.Output;

namespace Ambrosia.Tools.Diagnosis;

/// <summary>Reports what 'ambrosia doctor' has found.</summary>
/// <param name="Directory">The directory of the log.</param>
/// <param name="IsThere">False if it is not there yet, so that the nearest directory above stands for it.</param>
/// <param name="Probed">The directory in which the probes wrote; it is removed.</param>
/// <param name="Status">The status of the worst finding.</param>
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

/// <summary>It holds what one check of the doctor has found.</summary>
/// <param name="Check">The name of the check, which stays the same.</param>
/// <param name="What">What was found.</param>
/// <param name="Why">What follows from it, or null where all is well.</param>
/// <param name="Mend">What to do about it, or null where all is well.</param>
internal sealed record Finding(string Check, FindingStatus Status, string What, string? Why = null, string? Mend = null)
{
    public static Finding Ok(string check, string what) => new(check, FindingStatus.Ok, what);

    public static Finding Warn(string check, string what, string why, string mend) => new(check, FindingStatus.Warn, what, why, mend);

    public static Finding Fail(string check, string what, string why, string mend) => new(check, FindingStatus.Fail, what, why, mend);
}

/// <summary>The status says whether a log would keep its promises, as far as one check of the doctor can tell.</summary>
internal enum FindingStatus
{
    Ok,

    /// <summary>A log works here, with a limit or a risk that somebody should know.</summary>
    Warn,

    /// <summary>A log would break a promise here.</summary>
    Fail,
}
