using Ambrosia.Log;
using Ambrosia.Protocol;

namespace Ambrosia.Coordinator;

/// <summary>
/// What a replica does about checkpoints that have a name: a primary counts its own and those of others, after a look at what they say; a
/// secondary that turns out to differ takes back its own. The thread that writes checkpoints, but for <see cref="RemoveDoubtful"/>.
/// </summary>
/// <param name="verified">A primary has read all of another's checkpoint from the device and found it whole: once is enough.</param>
/// <param name="truncate">What nothing needs any more may go.</param>
internal sealed class PublishedCheckpoints(
    CoordinatorInputs inputs, ReplicaLog log, OutboxSet outboxes, Delivery delivery, CheckpointDuty duty, CheckpointRota rota,
    Action<CheckpointHeader> verified, Action truncate)
{
    private readonly string replica = inputs.Options.Replica, directory = inputs.Options.LogDirectory;

    public void Published(CheckpointFileName name)
    {
        bool isAdopted = name.Replica != replica;
        if (log.IsWritten && isAdopted && !IsTrusted(name)) return;
        inputs.Pumps.Say($"checkpoint {name}");
        if (!log.IsWritten) return; // the primary finds it, and removes what it makes superfluous
        duty.Published(name, log.Durable);
        // of our own the taker knows the header, and goes on by itself; below another's our app may still need the log
        if (isAdopted && delivery.Next >= name.Lsn) truncate();
    }

    public void Failed(string why)
    {
        duty.Failed(why);
        inputs.Pumps.Say($"checkpoint given up: {why}");
    }

    /// <summary>
    /// This secondary has diverged: what it published behind the last digest that agreed may hold the difference, and the primary could not
    /// compare calls that were trimmed. Called on the way out, so that nothing that fails here matters.
    /// </summary>
    /// <param name="confirmed">The last digest that agreed.</param>
    public void RemoveDoubtful(Lsn confirmed)
    {
        foreach (CheckpointFileName name in Checkpoints.List(inputs.Files, directory))
        {
            if (name.Replica != replica || name.Lsn <= confirmed) continue;
            inputs.Files.Delete(PathOf(name));
            inputs.Pumps.Say(
                $"checkpoint {name} is removed: it was made by this replica behind the last position at which it agreed with the log");
        }
    }

    /// <summary>A checkpoint of a secondary that has made other calls than we is removed, and not asked of it again at once.</summary>
    private bool IsTrusted(CheckpointFileName name)
    {
        if (WhatDiffers(name) is not { } why) return true;
        inputs.Files.Delete(PathOf(name));
        rota.PassOver(name.Replica);
        Failed($"{name} is removed: {why}");
        return false;
    }

    private string? WhatDiffers(CheckpointFileName name)
    {
        try
        {
            using CheckpointReader reader = CheckpointReader.Open(inputs.Files, PathOf(name), inputs.Identity, pastCache: true);
            string? why = CheckpointTrust.WhatDiffers(reader, outboxes);
            if (why is null) verified(reader.Header);
            return why;
        }
        catch (LogDamage damage)
        {
            return damage.Message;
        }
    }

    private string PathOf(CheckpointFileName name) => Path.Combine(directory, name.ToString());
}
