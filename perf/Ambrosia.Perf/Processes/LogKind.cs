namespace Ambrosia.Perf;

/// <summary>What an acknowledged message survives in a leg.</summary>
internal enum LogKind
{
    /// <summary>Flushed and fence-checked: the product.</summary>
    Durable,

    /// <summary>Written to the file system, never flushed: lives as long as the machine runs.</summary>
    Buffered,

    /// <summary>Written to memory (tmpfs) only.</summary>
    Off,
}
