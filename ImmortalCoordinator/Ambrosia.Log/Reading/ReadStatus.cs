namespace Ambrosia.Log;

/// <summary>What came of reading one page.</summary>
public enum ReadStatus
{
    /// <summary>The page is in the buffer, checked.</summary>
    Page,

    /// <summary>There is no page there yet, and nothing says that there should be one.</summary>
    AtTail,

    /// <summary>The position was truncated: start from the newest checkpoint.</summary>
    Gone,
}
