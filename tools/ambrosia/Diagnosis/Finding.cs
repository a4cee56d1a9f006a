namespace Ambrosia.Tools;

/// <summary>One check of the doctor.</summary>
/// <param name="Check">Its name; stable.</param>
/// <param name="What">What was found.</param>
/// <param name="Why">What follows from it; null where all is well.</param>
/// <param name="Mend">What to do about it.</param>
internal sealed record Finding(string Check, FindingStatus Status, string What, string? Why = null, string? Mend = null)
{
    public static Finding Ok(string check, string what) => new(check, FindingStatus.Ok, what);

    public static Finding Warn(string check, string what, string why, string mend) => new(check, FindingStatus.Warn, what, why, mend);

    public static Finding Fail(string check, string what, string why, string mend) => new(check, FindingStatus.Fail, what, why, mend);
}
