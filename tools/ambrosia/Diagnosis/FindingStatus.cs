namespace Ambrosia.Tools;

/// <summary>What a check of the doctor says.</summary>
internal enum FindingStatus
{
    Ok,

    /// <summary>It works, with a limit or a risk that somebody should know of.</summary>
    Warn,

    /// <summary>A promise would be broken here.</summary>
    Fail,
}
