namespace Ambrosia.TestKit;

/// <summary>
/// How cruel a power loss is. The defaults allow everything that a journalling file system on a sector-atomic device may do.
/// </summary>
public sealed record PowerLossOptions
{
    /// <summary>Blocks may be torn at 512 bytes; otherwise each 4 KiB block is old or new as a whole.</summary>
    public bool TornSectors { get; init; } = true;

    /// <summary>
    /// Names survive as a prefix of the operations (an ordered journal) when true, as any subset that does not contradict itself when
    /// false; null leaves the choice to the seed.
    /// </summary>
    public bool? OrderedNames { get; init; }

    /// <summary>
    /// Chance in percent that an un-flushed block survives; null leaves the choice to the seed, with 0 and 100 among its draws.
    /// </summary>
    public int? KeepPercent { get; init; }

    public static PowerLossOptions Default { get; } = new();

    /// <summary>Loses everything that was not flushed.</summary>
    public static PowerLossOptions LoseAll { get; } = new() { KeepPercent = 0 };
}
