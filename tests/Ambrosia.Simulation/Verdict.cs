namespace Ambrosia.Simulation;

/// <summary>
/// Says when a world has come to rest, and judges then what it has made: every call applied once and in order, on all replicas alike.
/// </summary>
internal sealed class Verdict(World world)
{
    /// <summary>
    /// The faults are over for so long, by the world's clock: whatever waits for longer is stuck. Most of it is work that was left over,
    /// since a step takes the better part of a millisecond.
    /// </summary>
    public static readonly TimeSpan RestMax = TimeSpan.FromMinutes(10);

    /// <summary>Who can go on without a person has so long to do so when an instance has halted.</summary>
    private static readonly TimeSpan s_settles = TimeSpan.FromSeconds(20);

    public bool IsDone() =>
        world.Instances.Any(static instance => instance.IsHalted) ? world.Time.Elapsed - world.Halts.Last > s_settles : IsAtRest();

    private bool IsAtRest() => world.Lone is { } lone ? lone.IsAtRest : AreAtRest();

    private bool AreAtRest() =>
        world.Source.App?.Immortal is Source { IsDone: true } source && world.Ledger.App?.Immortal is Ledger ledger
        && world.Deleted is not { IsDeleted: true, IsForgotten: false }
        && ledger.Count >= source.Made && world.Caller is not { IsDone: false }
        && world.Senders is not { IsDone: false }
        && world.Source.Living.All(r => r.App?.Immortal is Source s && s.IsAt(source) && s.Marks.Count == source.Marks.Count)
        && world.Ledger.Living.All(
            r => r.App?.Immortal is Ledger l && l.IsAt(ledger) && r.App.MessagesSetAside == world.Ledger.App.MessagesSetAside)
        && world.Clerks.AreAtRest && world.Source.IsQuiet && world.Ledger.IsQuiet && world.Links.All(static link => link.IsQuiet);

    public string Describe() => world.Lone is { } lone ? lone.Describe() :
        $"source {(world.Source.App?.Immortal as Source)?.Made} calls, {(world.Source.App?.Immortal as Source)?.Answers} answers, {(world.Source.App?.Immortal as Source)?.Rounds} rounds, {(world.Source.App?.Immortal as Source)?.Ticks} ticks, ledger {(world.Ledger.App?.Immortal as Ledger)?.Count}; " +
        $"{world.Links.Count} links, source quiet {world.Source.IsQuiet}, ledger quiet {world.Ledger.IsQuiet}";

    public void Judge()
    {
        if (world.Instances.Any(static instance => instance.IsHalted)) JudgeRest();
        else if (world.Lone is { } lone) lone.Judge();
        else JudgeAll();
    }

    /// <summary>An instance has halted: what the others were told is true as far as it goes.</summary>
    private void JudgeRest()
    {
        world.Saw("instance halted");
        var source = world.Source.App?.Immortal as Source;
        if (source is not null && source.WrongAnswers + source.WrongChains + source.WrongResults + source.WrongTimes > 0)
            throw new SimulationFailure("an instance has halted, and the source was told what is not true (I16)");
        if (world.Instances.All(static instance => instance.App is not null))
            throw new SimulationFailure("an instance has halted and has a primary");
    }

    private void JudgeAll()
    {
        var source = (Source)world.Source.App!.Immortal!;
        var ledger = (Ledger)world.Ledger.App!.Immortal!;
        if (world.Oracles.Acknowledgements < 5 || world.Oracles.Sends < 20 || world.Oracles.Trims < 1)
            throw new SimulationFailure(
                $"the oracles saw {world.Oracles.Acknowledgements} acknowledgements, {world.Oracles.Sends} sends and {world.Oracles.Trims} trims: they prove nothing");
        if (ledger.Count != source.Made) throw new SimulationFailure($"{source.Made} calls made, {ledger.Count} applied (I1)");
        if (ledger.Hash != source.Hash)
            throw new SimulationFailure($"{ledger.Count} calls applied in another order or with other values (I15)");
        if (world.Source.Living.Any(r => ((Source)r.App!.Immortal!).Hash != source.Hash)
            || world.Ledger.Living.Any(r => ((Ledger)r.App!.Immortal!).Hash != ledger.Hash))
            throw new SimulationFailure("two replicas have executed the same calls and differ (I8)");
        JudgeTimersAndTasks(source);
        ChainOracle.Judge(source, ledger);
        world.Clerks.Judge(ledger);
        world.Caller?.Judge(ledger);
        world.Senders?.Judge(source, ledger);
        if (world.Source.Living.Any(r => !((Source)r.App!.Immortal!).Marks.SequenceEqual(source.Marks)))
            throw new SimulationFailure("two replicas have executed the same impulses and differ (I8)");
        if (world.Ledger.Living.Any(
            r => ((Ledger)r.App!.Immortal!).Place != ledger.Place || !((Ledger)r.App!.Immortal!).Effects.SequenceEqual(ledger.Effects)))
            throw new SimulationFailure("two replicas have executed the same calls from outside and differ (I8)");
        if (source.WrongAnswers != 0 || ledger.Asked != source.Answers)
            throw new SimulationFailure($"{source.WrongAnswers} wrong answers, {ledger.Asked} asked, {source.Answers} answered (I16)");
        JudgePoison(ledger);
        world.Upgrades.Judge(ledger);
    }

    /// <summary>Every execution has set aside, tried again and dropped the same.</summary>
    private void JudgePoison(Ledger ledger)
    {
        if (world.PoisonEvery == 0) return;
        if ((ulong)ledger.Thrown.Count != ledger.Count / world.PoisonEvery)
            throw new SimulationFailure($"{ledger.Thrown.Count} of {ledger.Count} calls have thrown (L5.12)");
        world.TriedAgain = ledger.TriedAgain;
        foreach (SimulatedReplica replica in world.Ledger.Living)
        {
            var other = (Ledger)replica.App!.Immortal!;
            if (!other.Thrown.SequenceEqual(ledger.Thrown) || other.TriedAgain != ledger.TriedAgain
                || replica.App.MessagesSetAside != world.Ledger.App!.MessagesSetAside)
                throw new SimulationFailure(
                    $"{replica.Process} keeps {replica.App.MessagesSetAside} messages and has tried {other.TriedAgain} again, another {world.Ledger.App!.MessagesSetAside} and {ledger.TriedAgain} (L5.12)");
        }
    }

    private void JudgeTimersAndTasks(Source source)
    {
        if (!world.HasTimersAndTasks) return;
        if (world.Oracles.TimersAndTasks.Results < (int)Simulation.Source.RoundsWanted
            || world.Oracles.TimersAndTasks.Fired < (int)(Simulation.Source.RoundsWanted + Simulation.Source.TicksWanted))
            throw new SimulationFailure(
                $"the oracles saw {world.Oracles.TimersAndTasks.Results} results and {world.Oracles.TimersAndTasks.Fired} timers: they prove nothing");
        world.Oracles.JudgeTasks(source.Results);
        if (source.WrongResults != 0 || (ulong)source.Results.Count != source.Rounds)
            throw new SimulationFailure(
                $"{source.Rounds} tasks, {source.Results.Count} results, {source.WrongResults} of them twice (I17)");
        if (source.WrongTimes != 0 || source.Ticks != Simulation.Source.TicksWanted)
            throw new SimulationFailure($"{source.WrongTimes} timers fired at a time that cannot be, {source.Ticks} ticks");
        if (world.Source.Living.Any(r => ((Source)r.App!.Immortal!).TimersAndTasksHash() != source.TimersAndTasksHash()))
            throw new SimulationFailure("two replicas have executed the same timers and tasks and differ (I8)");
    }
}
