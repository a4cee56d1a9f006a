namespace Ambrosia.Perf;

/// <summary>Faults of this build, as the driver plants them. What differs by them never comes to a log.</summary>
internal static class Faults
{
    /// <summary>An upgrade is made behind so many rehearsals that have worked.</summary>
    private const int RehearsalsMin = 3;

    private static volatile int s_rehearsals;

    /// <summary>The word of the command line; null: none is planted.</summary>
    public static string? Planted { get; set; }

    /// <summary>OnUpgraded is executed, which is the last thing in a rehearsal.</summary>
    public static void Upgraded()
    {
        s_rehearsals++;
        if (Planted == "refuse") throw new InvalidOperationException("planted: every rehearsal is refused at its end");
    }

    /// <summary>A state is converted or written.</summary>
    public static void Converting()
    {
        if (Planted == "give-up" && s_rehearsals >= RehearsalsMin)
            throw new InvalidOperationException("planted: the conversion throws behind a rehearsal that has worked");
    }
}
