using Ambrosia.Log;
using Ambrosia.Protocol;

namespace Ambrosia.Coordinator;

/// <summary>What a replica's state is at a checkpoint's place.</summary>
/// <param name="Part">CRC-64/NVME of the coordinator's part (log-format L6.2).</param>
/// <param name="Image">CRC-64/NVME of the binding's image.</param>
internal readonly record struct StateDigest(ulong Part, ulong Image);

/// <summary>
/// Compares this replica's state with what others have published at the same place (I6, I8). Holds the last few places of its own; a place
/// without a file by the time that it is pushed out was nobody's. The thread that writes checkpoints.
/// </summary>
internal sealed class StateBook(IFileSystem files, string directory, InstanceIdentity identity, string replica)
{
    private const int PlacesMax = 4;

    private readonly Queue<(Lsn Place, StateDigest Own)> places = new();

    /// <summary>Places compared and found equal.</summary>
    public long Compared { get; private set; }

    public bool HasAny => places.Count > 0;

    public void Computed(Lsn place, StateDigest own)
    {
        if (places.Count == PlacesMax) places.Dequeue();
        places.Enqueue((place, own));
    }

    /// <summary>Looks for the files of its places.</summary>
    /// <exception cref="DivergenceException">Inputs, outputs, positions or the app's image differ from another replica's at
    /// the same place.</exception>
    public void Compare()
    {
        if (places.Count == 0) return;
        IReadOnlyList<CheckpointFileName> published = Checkpoints.List(files, directory);
        for (int n = places.Count; n > 0; n--)
        {
            (Lsn place, StateDigest own) = places.Dequeue();
            CheckpointFileName[] others = [.. published.Where(name => name.Lsn == place && name.Replica != replica)];
            if (others.Length == 0) places.Enqueue((place, own));
            foreach (CheckpointFileName name in others) Compare(name, own);
        }
    }

    private void Compare(CheckpointFileName name, StateDigest own)
    {
        StateDigest theirs;
        try
        {
            using CheckpointReader reader = CheckpointReader.Open(files, Path.Combine(directory, name.ToString()), identity);
            theirs = new StateDigest(ChannelHash.Append(0, reader.Coordinator.Span), reader.ImageHash);
        }
        catch (Exception gone) when (gone is LogDamage or FileNotFoundException)
        {
            return; // removed since, or damaged: recovery passes over it loudly
        }
        if (theirs.Part != own.Part)
            throw new DivergenceException(
                $"the state at log position {name.Lsn} differs: {name} says {theirs.Part:x16} of inputs and outputs, this replica {own.Part:x16}. " +
                    "The app must emit the same calls for the same inputs.");
        if (theirs.Image != own.Image)
            throw new DivergenceException(
                $"the app's image at log position {name.Lsn} differs from that of {name}, though all calls so far were the same: hash {own.Image:x16} here, {theirs.Image:x16} there. " +
                    "State must follow from the inputs alone: look for clocks, randomness, hash codes that are kept, other threads, or what one process has and another has not.");
        Compared++;
    }
}
