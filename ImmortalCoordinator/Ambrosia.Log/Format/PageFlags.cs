namespace Ambrosia.Log;

/// <summary>Flags of a page (log-format L4).</summary>
[Flags]
public enum PageFlags : ushort
{
    None = 0,

    /// <summary>No records: the page only states durableUpTo.</summary>
    DurableMark = 1,

    /// <summary>Holds the beginning of one record that later pages continue.</summary>
    BeginsSpanning = 2,

    /// <summary>Continues the record of the page before.</summary>
    ContinuesSpanning = 4,
}
