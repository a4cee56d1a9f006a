namespace Ambrosia.Simulation;

/// <summary>Rare states that a campaign must have met: one that has never met a state has not tried it.</summary>
/// <remarks>The rarest need thousands of worlds, or worlds that are made for them (<see cref="HaltTests"/>).</remarks>
internal static class Sights
{
    /// <summary>Those that a few hundred worlds need not meet.</summary>
    public static IReadOnlyList<string> Rarest { get; } =
    [
        "damage in a checkpoint", "misdirected write", "damage in outputs on disk", "exit 74", "damage where nothing is needed",
        "hello overtaken", "upgrade given up", "another build that does the same",
        "checkpoint of another build's replay",
    ];

    /// <summary>
    /// So many worlds meet a sight, or something keeps them from it. One world in 2,000 meets a hello that another connection has overtaken,
    /// so that 2,000 of them miss it every third time, and 20,000 once in 20,000 times.
    /// </summary>
    public static int WorldsFor(string sight) => sight == "hello overtaken" ? 20_000 : 2_000;

    public static IReadOnlyList<string> All { get; } =
    [
        "clock set back", "clock set forward", "replica stopped", "slow link", "half-open link", "dialled twice", "disk error",
        "write-back failed",
        "disk full", "record longer than a page", "empty blob", "three replicas", "three instances", "four instances", "clocks differ",
        "clocks drift", "limits drawn", "terminated", "promote", "promote refused", "retire", "retire refused", "checkpoint as asked",
        "clean end of a primary", "clean end of a secondary", "damage in a segment", "damage in a checkpoint", "misdirected write",
        "damage in outputs on disk", "exit 65", "exit 74", "instance halted", "damage where nothing is needed", "catalog hangs",
        "catalog down", "dialled in vain", "another build", "another build that does the same", "exit 70", "quiet digest",
        "checkpoint of another build's replay",
        "thread hangs", "one instance", "upgraded", "upgrade rehearsed", "old version ended",
        "bad sector in a checkpoint", "bad sector in a segment", "bad sector where nothing is needed", "newest segment leads nowhere",
        "stale listing of a segment", "stale listing of a checkpoint", "no descriptors", "no memory", "exit 71",
        "checkpoint waits for the system", "hello overtaken", "upgrade given up", "handed over", "no replica goes on", "primary stands still",
    ];
}
