namespace Ambrosia.Simulation;

/// <summary>Kinds of faults and of work that can be left out of a world as a whole.</summary>
internal static class FaultKinds
{
    private static readonly SortedDictionary<string, Func<Faults, Faults>> s_without = new(StringComparer.Ordinal)
    {
        ["alone"] = static faults => faults with { Alone = false },
        ["bad-sectors"] = static faults => faults with { BadSectors = false },
        ["builds"] = static faults => faults with { Builds = false },
        ["caller"] = static faults => faults with { Caller = false },
        ["catalog"] = static faults => faults with { Catalog = false },
        ["chains"] = static faults => faults with { Chains = false },
        ["clerks"] = static faults => faults with { Clerks = false },
        ["clocks"] = static faults => faults with { Clocks = false },
        ["cuts"] = static faults => faults with { BrokenLinks = false },
        ["deletes"] = static faults => faults with { Deletes = false },
        ["ghosts"] = static faults => faults with { Ghosts = false },
        ["hangs"] = static faults => faults with { Hangs = false },
        ["impulses"] = static faults => faults with { Impulses = false },
        ["limits"] = static faults => faults with { Limits = false },
        ["operators"] = static faults => faults with { Operators = false },
        ["poison"] = static faults => faults with { Poison = false },
        ["power"] = static faults => faults with { PowerLosses = false },
        ["rot"] = static faults => faults with { Rot = false },
        ["scarcity"] = static faults => faults with { Scarcity = false },
        ["shapes"] = static faults => faults with { Shapes = false },
        ["tasks"] = static faults => faults with { TimersAndTasks = false },
        ["upgrades"] = static faults => faults with { Upgrades = false },
        ["weather"] = static faults => faults with { Weather = false },
    };

    private static readonly SortedDictionary<string, Func<Faults, Faults>> s_with = new(StringComparer.Ordinal)
    {
        ["alone"] = static faults => faults with { Alone = true },
        ["bad-sectors"] = static faults => faults with { BadSectors = true },
        ["builds"] = static faults => faults with { Builds = true },
        ["caller"] = static faults => faults with { Caller = true },
        ["chains"] = static faults => faults with { Chains = true },
        ["clerks"] = static faults => faults with { Clerks = true },
        ["dead-marks"] = static faults => faults with
        {
            DeadMarks = true, Builds = true, Replicas = true, Alone = false, Deletes = false,
            Weather = false, Hangs = false, Operators = false, Rot = false, Upgrades = false, // so that much is done in time
        },
        ["ghosts"] = static faults => faults with { Ghosts = true },
        ["hung-disks"] = static faults => faults with { HungDisks = true },
        ["impulses"] = static faults => faults with { Impulses = true },
        ["replicas"] = static faults => faults with { Replicas = true },
        ["rot"] = static faults => faults with { Rot = true },
        ["scarcity"] = static faults => faults with { Scarcity = true },
        ["tasks"] = static faults => faults with { TimersAndTasks = true },
        ["upgrades"] = static faults => faults with { Upgrades = true },
    };

    public static IReadOnlyCollection<string> All => s_without.Keys;

    /// <summary>Those that a world can be made to have.</summary>
    public static IReadOnlyCollection<string> Forced => s_with.Keys;

    public static Faults With(Faults faults, string kind) => s_with[kind](faults);

    public static Faults Without(Faults faults, string kind) => s_without[kind](faults);
}
