using Ambrosia.Log.Fencing;
using Ambrosia.Protocol;

namespace Ambrosia.Simulation;

/// <summary>
/// Judges availability while the faults go on: a primary that stands still for longer than the hang limit, because its process is stopped
/// or its disk does not answer, is replaced where a sound standby looks at it all that time. Clocks drift and steps are drawn, so the bound
/// is a quarter more than the limit, and a pause; of a primary that has not beaten yet it is eight times as long.
/// </summary>
internal sealed class Availability(World world)
{
    /// <summary>Behind a take-over a primary that has not beaten is waited for so many times longer.</summary>
    private const int SilentAtFirst = 8;

    /// <summary>Looks come as steps are drawn. A primary needs two of its own to see that its disk does not answer.</summary>
    private static readonly TimeSpan s_looks = TimeSpan.FromMilliseconds(750), s_ownLooks = TimeSpan.FromSeconds(2);

    private readonly Dictionary<InstanceId, Stand> _stands = [];

    /// <summary>Looks at each instance; called between the steps of the world.</summary>
    /// <exception cref="SimulationFailure">A primary stands still for too long, and a sound standby has not taken over.</exception>
    public void Step()
    {
        foreach (SimulatedInstance instance in world.Instances)
        {
            if (!instance.HasRivals) continue;
            Stand? before = _stands.GetValueOrDefault(instance.Id), now = world.IsCalm ? null : Find(instance);
            if (now is null || before is null || !now.IsSameAs(before))
            {
                if (now is null) _stands.Remove(instance.Id);
                else _stands[instance.Id] = now;
                continue;
            }
            Judge(before);
        }
    }

    private void Judge(Stand stand)
    {
        TimeSpan stood = world.Time.Elapsed - stand.Since, limit = world.Limits.HangLimit;
        if (stood > limit) world.Saw("primary stands still");
        TimeSpan bound = 1.25 * limit + (stand.BeganByPause ? s_looks : s_ownLooks);
        if (stood <= bound) return;
        bool hasBeaten = false;
        string path = Path.Combine(
            world.InstanceOf(stand.Primary.Id).Directory, $"primary.{stand.Primary.Coordinator!.Epoch.Value}.{stand.Primary.Name}");
        world.Undisturbed(() => hasBeaten = PrimaryLock.ReadBeat(world.Disk, path) > 0);
        if (!hasBeaten && stood <= SilentAtFirst * bound) return;
        throw new SimulationFailure(
            $"{stand.Process} has stood still for {stood} with a hang limit of {limit}, and {stand.Standby.Process}, which is sound, has not taken over (I22)");
    }

    /// <summary>The primary of an instance that stands still while a standby is sound; null: there is none.</summary>
    private Stand? Find(SimulatedInstance instance)
    {
        SimulatedReplica? primary = null, standby = null;
        foreach (SimulatedReplica replica in instance.Replicas)
        {
            if (replica.Coordinator is { IsPrimary: true } && !world.Oracles.DiskOf(instance.Id).IsSuperseded(replica.Process))
                primary = replica;
            else if (replica.IsSoundStandby) standby ??= replica;
        }
        return primary is null || standby is null || !primary.StandsStill ? null
            : new Stand(primary, primary.Process, standby, standby.Process, primary.Coordinator!.Durable, world.Time.Elapsed,
                primary.IsPaused && !primary.Hung.HasAny);
    }

    /// <param name="Durable">The primary had made so much durable; one that commits on is well.</param>
    /// <param name="BeganByPause">Its process was stopped first; otherwise it has to see by itself that its disk does not answer.</param>
    private sealed record Stand(
        SimulatedReplica Primary, string Process, SimulatedReplica Standby, string StandbyProcess, Lsn Durable, TimeSpan Since,
        bool BeganByPause)
    {
        public bool IsSameAs(Stand other) =>
            Process == other.Process && StandbyProcess == other.StandbyProcess && Durable == other.Durable;
    }
}
