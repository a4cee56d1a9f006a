namespace Ambrosia.Simulation;

/// <summary>Rare states that a campaign must have met: one that has never met a state has not tried it.</summary>
internal static class Sights
{
    public static IReadOnlyList<string> All { get; } =
    [
        "clock set back", "clock set forward", "replica stopped", "slow link", "half-open link", "dialled twice", "disk error",
        "disk full", "record longer than a page", "empty blob", "three replicas", "clocks differ", "clocks drift", "limits drawn",
        "terminated", "promote", "promote refused", "retire", "retire refused", "checkpoint as asked", "clean end of a primary",
        "clean end of a secondary", "damage in a segment", "damage in a checkpoint", "misdirected write", "damage in outputs on disk",
        "exit 65", "exit 74", "instance halted", "damage where nothing is needed", "catalog hangs", "catalog down", "dialled in vain",
        "another build", "another build that does the same", "exit 70",
    ];
}
