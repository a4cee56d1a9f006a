using Ambrosia.Coordinator.LogFeed;
using Ambrosia.Coordinator.Outboxes;
using Ambrosia.Coordinator.Replay;
using Ambrosia.Coordinator.Replica;
using Ambrosia.Log.Checkpoints;
using Ambrosia.Log.Format;
using Ambrosia.Log.Retention;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Checkpoints;

namespace Ambrosia.Coordinator.Checkpoints;

/// <summary>
/// Decides what a replica does about checkpoints that have a name: a primary counts its own and those of others, after a look at what they
/// say, and truncates the log behind them; a secondary that turns out to differ takes back its own. It owns the comparison of states. The
/// thread that writes checkpoints, but for <see cref="RemoveDoubtful"/> and <see cref="Failed"/>.
/// </summary>
internal sealed class PublishedCheckpoints(
    CoordinatorInputs inputs, ReplicaLog log, OutboxSet outboxes, Delivery delivery, CheckpointTrigger trigger, CheckpointAssigner assigner)
    : ICheckpointOutcome
{
    private readonly string _replica = inputs.Options.Replica, _directory = inputs.Options.LogDirectory;
    private readonly ReplicaStateComparer _states = new(inputs);

    /// <summary>The hashes of states that are in the log.</summary>
    public required StateHashes StateHashes { get; init; }

    private volatile RetentionScheduler? _retention;

    /// <summary>History was to be removed while receivers were awaited.</summary>
    private volatile bool _isTruncationOwed;

    /// <summary>This replica has the log, and truncates it from here on.</summary>
    public void BecomePrimary(RetentionScheduler retention) => _retention = retention;

    /// <summary>Returns true, once each time, when what a reader held, or what had to wait for receivers, is to be tried again.</summary>
    public bool IsTruncationDue(TimeSpan now)
    {
        if (_retention is not { } retention) return false;
        if (!_isTruncationOwed || AreReceiversAwaited) return retention.IsDue(now);
        _isTruncationOwed = false;
        return true;
    }

    /// <summary>The segment that a reader keeps from being removed, of a primary. Any thread.</summary>
    public SegmentHold? Held => _retention?.Held;

    public bool Published(CheckpointFileName name)
    {
        bool isAdopted = name.Replica != _replica;
        if (log.IsWritten && isAdopted && !IsTrusted(name)) return false;
        inputs.Logger.CheckpointPublished(name.ToString());
        if (!log.IsWritten) return false; // the primary finds it, and removes what it makes superfluous
        trigger.Published(name);
        // of our own the writer knows the header, and goes on by itself; below another's our app may still need the log
        return isAdopted && delivery.Next >= name.Lsn;
    }

    public void Truncate(CheckpointHeader? published)
    {
        _isTruncationOwed = AreReceiversAwaited;
        if (!_isTruncationOwed) _retention?.Run(published);
        else if (published is not null) _retention?.MarkVerified(published);
    }

    /// <summary>A receiver may yet say that it has other calls than a replay made: nothing is concluded from what the app did.</summary>
    public bool AreReceiversAwaited => outboxes.Unheard.AreAwaited;

    public string? Computed(Lsn place, StateDigest state)
    {
        _states.Computed(place, state);
        if (log.IsWritten && !AreReceiversAwaited) StateHashes.Append(place, state.Image);
        return null;
    }

    /// <summary>Compares this secondary's state with checkpoints of others; a primary's is the one that counts.</summary>
    /// <exception cref="DivergenceException">Exit 70.</exception>
    public void CompareStates()
    {
        if (!log.IsWritten) _states.Compare(StateHashes);
    }

    /// <summary>
    /// The states were the same at the first place and differ at the second, while all calls were the same; null: no such thing was found.
    /// </summary>
    /// <param name="began">The session began here.</param>
    public (Lsn From, Lsn To)? StateDiverged(Lsn began) =>
        _states.ImageDiffersAt is { } differs ? (Lsn.Max(began, _states.Agreed), differs) : null;

    public void Failed(string why)
    {
        trigger.Failed(why);
        inputs.Logger.CheckpointFailed(why);
    }

    /// <summary>
    /// This replica has diverged: what it published behind the last place at which it was compared may hold the difference, and the
    /// primary could not compare calls that were trimmed. A primary that differs removes what any replica published there: it has counted
    /// theirs because they were like its own. Where nothing older is left to begin with, all stay. Called on the way out, so that nothing
    /// that fails here matters.
    /// </summary>
    /// <param name="began">The session began here: with a checkpoint that is in force, or with the log.</param>
    /// <param name="confirmed">The last digest that agreed: it says nothing of a state that differs where the calls do not.</param>
    /// <param name="logBegins">The first place of the log that is still there.</param>
    public void RemoveDoubtful(Lsn began, Lsn confirmed, Lsn logBegins)
    {
        Lsn trusted = Lsn.Max(began, _states.IsDifferent ? _states.Agreed : confirmed);
        IReadOnlyList<CheckpointFileName> all = CheckpointDirectory.List(inputs.Files, _directory);
        if (log.IsWritten && logBegins > Lsn.Zero && !all.Any(name => name.Lsn <= trusted && name.Lsn >= logBegins)) return;
        foreach (CheckpointFileName name in all)
        {
            if ((name.Replica != _replica && !log.IsWritten) || name.Lsn <= trusted) continue;
            inputs.Files.Delete(PathOf(name));
            inputs.Logger.CheckpointRemoved(name.ToString());
        }
    }

    /// <summary>A checkpoint of a secondary that has made other calls than we is removed, and not asked of it again at once.</summary>
    private bool IsTrusted(CheckpointFileName name)
    {
        if (WhatDiffers(name) is not { } why) return true;
        inputs.Files.Delete(PathOf(name));
        assigner.PassOver(name.Replica);
        Failed($"{name} is removed: {why}");
        return false;
    }

    private string? WhatDiffers(CheckpointFileName name)
    {
        try
        {
            using CheckpointReader reader = CheckpointReader.Open(inputs.Files, PathOf(name), inputs.Identity, pastCache: true);
            string? why = CheckpointValidator.WhatDiffers(reader, outboxes);
            if (why is null) _retention?.MarkVerified(reader.Header); // once is enough
            return why;
        }
        catch (Exception damage) when (damage is LogDamage or ProtocolViolation) // its sums hold, and a build that errs wrote it
        {
            return damage.Message;
        }
        catch (FileNotFoundException)
        {
            return "its replica has taken it back"; // it has diverged, which says nothing of our disk
        }
    }

    private string PathOf(CheckpointFileName name) => Path.Combine(_directory, name.ToString());
}

/// <summary>
/// What a primary checks of a checkpoint that a secondary has published, before anything rests on it: that the calls in it are the calls
/// that the primary's own app has made. A replica that differs would otherwise hand its difference on by its checkpoints.
/// </summary>
internal static class CheckpointValidator
{
    /// <summary>
    /// Null: nothing differs that can be compared; numbers that are trimmed, or for a receiver that was forgotten since, cannot. Our app
    /// has executed the log up to the checkpoint's place, so that it has made each call that is in it.
    /// </summary>
    /// <exception cref="ProtocolViolation">The coordinator's part, or the outbox, is malformed.</exception>
    public static string? WhatDiffers(CheckpointReader checkpoint, OutboxSet outboxes)
    {
        CoordinatorPart part = CoordinatorPart.Read(checkpoint.CoordinatorBytes.Span);
        IReadOnlyDictionary<InstanceId, int> generations = ReplayState.From(part).Generations;
        foreach (CheckpointOutput output in part.Outputs)
        {
            if (!outboxes.TryGet(output.Destination, out Outbox? outbox)
                || outbox.Generation != generations.GetValueOrDefault(output.Destination)) continue;
            if (output.Number > outbox.Known.Number)
                return $"it says {output.Number} calls to {output.Destination}, our app has made {outbox.Known.Number}";
            if (!outbox.TryPositionAt(output.Number, out ChannelPosition own)) continue;
            if (own.Hash != output.Hash)
                return $"it says hash {output.Hash:x16} after {output.Number} calls to {output.Destination}, our app has {own.Hash:x16}";
        }
        return null;
    }
}
