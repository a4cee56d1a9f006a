namespace Ambrosia.Log;

/// <summary>How pages reach the device; each group is flushed either way (log-format L3, write mode).</summary>
public enum LogWriteMode
{
    /// <summary>Past the page cache where the file system does that, else through it.</summary>
    Auto,

    /// <summary>Past the page cache, or not at all.</summary>
    Direct,

    /// <summary>Through the page cache.</summary>
    Buffered,
}
