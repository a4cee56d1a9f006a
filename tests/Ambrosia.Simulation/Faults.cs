namespace Ambrosia.Simulation;

/// <summary>What a run may do to the processes.</summary>
internal sealed record Faults
{
    public bool Kills { get; init; } = true;

    public bool PowerLosses { get; init; } = true;

    public bool BrokenLinks { get; init; } = true;

    /// <summary>
    /// What <see cref="Simulation.Weather"/> brings. Without kills there is none: such worlds are for what nothing else may disturb.
    /// </summary>
    public bool Weather { get => field && Kills; init; } = true;

    /// <summary>Threads of a coordinator hang in operations of the disk, each by itself.</summary>
    public bool Hangs { get => field && Kills; init; } = true;

    /// <summary>There is one instance, which calls itself; null: in every twelfth world.</summary>
    public bool? Alone { get; init; }

    /// <summary>Some instances have three replicas.</summary>
    public bool Shapes { get => field && Kills; init; } = true;

    /// <summary>Each replica may have a clock of its own.</summary>
    public bool Clocks { get => field && Kills; init; } = true;

    /// <summary>The sizes and times of a world may be drawn.</summary>
    public bool Limits { get => field && Kills; init; } = true;

    /// <summary>Some worlds have a catalog, which hangs or cannot be reached at times.</summary>
    public bool Catalog { get => field && Kills; init; } = true;

    /// <summary>Operators promote, retire and stop replicas.</summary>
    public bool Operators { get => field && Kills; init; } = true;

    /// <summary>Something that was flushed is damaged; null: in one world of ten.</summary>
    public bool? Rot { get; init; }

    /// <summary>Negative control: damage where the log states nothing, which no reader can tell from a torn tail.</summary>
    public bool RotsTail { get; init; }

    /// <summary>A block of a segment or a checkpoint cannot be read any more; null: in one world of ten.</summary>
    public bool? BadSectors { get; init; }

    /// <summary>Names are listed that lead nowhere; null: in one world of ten.</summary>
    public bool? Ghosts { get; init; }

    /// <summary>Descriptors or memory of processes run out for a while; null: in one world of eight.</summary>
    public bool? Scarcity { get; init; }

    /// <summary>Negative control: errors of the disk and refusals of the system cannot be told apart by their numbers.</summary>
    public bool LostNumbers { get; init; }

    /// <summary>The source is started with another build; null: in one world of ten.</summary>
    public bool? Builds { get; init; }

    /// <summary>
    /// Another build comes where a mark of the dead primary is unanswered, and the source has replicas; otherwise in a third of the worlds
    /// with another build, where it can.
    /// </summary>
    public bool DeadMarks { get; init; }

    /// <summary>Negative control: a standby of another build gives its checkpoints their names, whatever has confirmed them.</summary>
    public bool HastyNames { get; init; }

    /// <summary>The ledger's app is upgraded; null: in one world of five.</summary>
    public bool? Upgrades { get; init; }

    /// <summary>Negative control: an app of two versions begins with the new one, whatever the log says.</summary>
    public bool WrongVersion { get; init; }

    /// <summary>Negative control: another build that differs where nobody can know yet, so that its calls get out.</summary>
    public bool DiffersAhead { get; init; }

    /// <summary>Negative control: what was dialled in vain is never dialled again once the faults are over.</summary>
    public bool GivesUp { get; init; }

    /// <summary>Which faults happen of those that are drawn; null: all.</summary>
    public FaultChoice? Chosen { get; init; }

    /// <summary>Negative control: flushes that do nothing, which no recovery can survive.</summary>
    public bool LyingDisk { get; init; }

    /// <summary>Negative control: an app that emits another value each time it runs.</summary>
    public bool RollingDice { get; init; }

    /// <summary>Negative control: a fence check that does not look.</summary>
    public bool BlindFence { get; init; }

    /// <summary>One or two further instances call the ledger; null: in every fourth world.</summary>
    public bool? Clerks { get; init; }

    /// <summary>One instance or both have two replicas; null: in the worlds of even seeds.</summary>
    public bool? Replicas { get; init; }

    /// <summary>Negative control: a disk that loses pages that it had flushed when power is lost.</summary>
    public bool AmnesicDisk { get; init; }

    /// <summary>Negative control: a claim that was lost to another says that it was won.</summary>
    public bool SharedClaims { get; init; }

    /// <summary>Negative control: each replica that runs seems to move, and to have executed everything.</summary>
    public bool WishfulMoves { get; init; }

    /// <summary>Negative control: standbys to whom each primary seems to beat.</summary>
    public bool PatientStandbys { get; init; }

    /// <summary>Whatever hangs is the disk under the space pump, in every world and for longer than the limit.</summary>
    public bool HungDisks { get => field && Kills; init; }

    /// <summary>Negative control: a primary that does not see that its space pump stands in an operation of the disk.</summary>
    public bool BeatsOnAHungDisk { get; init; }

    /// <summary>Negative control: operations fail that no fault of the disk has hit.</summary>
    public bool MoodyDisk { get; init; }

    /// <summary>Negative control: a secondary that writes back what it reads.</summary>
    public bool ReadRepair { get; init; }

    /// <summary>Negative control: a secondary that acknowledges to peers what it follows.</summary>
    public bool EagerSecondary { get; init; }

    /// <summary>Negative control: links that carry acknowledgements of what is not durable yet.</summary>
    public bool RaisedAcks { get; init; }

    /// <summary>Negative control: apps are given other results of their tasks than the log holds.</summary>
    public bool ForgedResults { get; init; }

    /// <summary>Negative control: coordinators whose timers go by another clock than their log.</summary>
    public bool FastTimers { get; init; }

    /// <summary>
    /// Chains of awaited calls, with checkpoints that hold suspended handlers; null: in the worlds of every seventh seed.
    /// </summary>
    public bool? Chains { get; init; }

    /// <summary>Negative control: a handler that keeps something over an await outside of the state.</summary>
    public bool KeepsOutside { get; init; }

    /// <summary>Timers and tasks beside the calls; null: in half of the worlds.</summary>
    public bool? TimersAndTasks { get; init; }

    /// <summary>
    /// Some calls to the ledger throw, under fork policies that change from start to start; null: in the worlds of every third seed.
    /// </summary>
    public bool? Poison { get; init; }

    /// <summary>Negative control: handlers throw by chance, so that no two executions set the same aside.</summary>
    public bool Whim { get; init; }

    /// <summary>A caller outside calls the ledger; null: in the worlds of every fifth seed.</summary>
    public bool? Caller { get; init; }

    /// <summary>
    /// The ledger is deleted and made again, and the source's operator gives the old one up; null: in the worlds of every
    /// seventh seed without a caller.
    /// </summary>
    public bool? Deletes { get; init; }

    /// <summary>Negative control: a source that takes the new ledger for the old one.</summary>
    public bool Confuses { get; init; }

    /// <summary>
    /// Other threads of the source's app send impulses; null: in the worlds of every fifth seed, beside those with a caller.
    /// </summary>
    public bool? Impulses { get; init; }

    /// <summary>Negative control: callers and senders of impulses that give what they repeat a key of its own.</summary>
    public bool NewKeys { get; init; }

    /// <summary>Invariants that are watched; a negative control watches one alone.</summary>
    public Oracle Watched { get; init; } = Oracle.All;
}
