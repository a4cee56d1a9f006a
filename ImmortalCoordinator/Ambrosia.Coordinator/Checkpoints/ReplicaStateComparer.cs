using Ambrosia.Coordinator.Replica;
using Ambrosia.Log.Checkpoints;
using Ambrosia.Log.Fencing;
using Ambrosia.Log.Files;
using Ambrosia.Log.Format;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Hashing;

namespace Ambrosia.Coordinator.Checkpoints;

/// <summary>Tells two replicas' states at a checkpoint's place apart by their hashes.</summary>
/// <param name="Part">CRC-64/NVME of the coordinator's part (log-format L6.2).</param>
/// <param name="Image">CRC-64/NVME of the binding's image.</param>
internal readonly record struct StateDigest(ulong Part, ulong Image);

/// <summary>
/// Compares this replica's state with what others have published at the same place (I6, I8), and says where it was the same. Holds the last
/// few places of its own; a place without a file by the time that it is pushed out was nobody's. The thread that writes checkpoints.
/// </summary>
internal sealed class ReplicaStateComparer(CoordinatorInputs inputs)
{
    private const int PlacesMax = 4;

    private readonly IFileSystem _files = inputs.Files;
    private readonly string _directory = inputs.Options.LogDirectory;
    private readonly Queue<(Lsn Place, StateDigest Own)> _places = new();

    /// <summary>The last place at which this replica's state was another's.</summary>
    public Lsn Agreed { get; private set; }

    /// <summary>This replica's state differs from the primary's.</summary>
    public bool IsDifferent { get; private set; }

    /// <summary>The app's image differs here, while all calls were the same; null: it does not.</summary>
    public Lsn? ImageDiffersAt { get; private set; }

    public void Computed(Lsn place, StateDigest own)
    {
        if (_places.Count == PlacesMax) _places.Dequeue();
        _places.Enqueue((place, own));
    }

    /// <summary>Looks for the files of its places, and for what the log says of them.</summary>
    /// <exception cref="DivergenceException">Inputs, outputs, positions or the app's image differ from another replica's at
    /// the same place.</exception>
    public void Compare(StateHashes logged)
    {
        if (_places.Count == 0) return;
        foreach ((Lsn place, StateDigest own) in _places)
        {
            if (logged.At(place) is not { } hash) continue;
            IsDifferent = hash != own.Image;
            if (IsDifferent) throw DifferentImage(place, own.Image, "the log's record of the primary's state", hash);
        }
        IReadOnlyList<CheckpointFileName> published = CheckpointDirectory.List(_files, _directory);
        for (int n = _places.Count; n > 0; n--)
        {
            (Lsn place, StateDigest own) = _places.Dequeue();
            CheckpointFileName[] others = [.. published.Where(name => name.Lsn == place && name.Replica != inputs.Options.Replica)];
            if (others.Length == 0) _places.Enqueue((place, own));
            foreach (CheckpointFileName name in others) Compare(name, own);
        }
    }

    private void Compare(CheckpointFileName name, StateDigest own)
    {
        StateDigest theirs;
        try
        {
            using CheckpointReader reader = CheckpointReader.Open(_files, Path.Combine(_directory, name.ToString()), inputs.Identity);
            theirs = new StateDigest(ChannelHash.Append(0, reader.CoordinatorBytes.Span), reader.ImageHash);
        }
        catch (Exception gone) when (gone is LogDamage or FileNotFoundException)
        {
            return; // removed since, or damaged: recovery passes over it loudly
        }
        if (theirs != own && !IsOfAPrimary(name))
        {
            inputs.Logger.CheckpointDiffers(name.ToString());
            return;
        }
        IsDifferent = theirs != own;
        if (theirs.Part != own.Part)
            throw new DivergenceException(
                $"the state at log position {name.Lsn} differs: {name} says {theirs.Part:x16} of inputs and outputs, this replica {own.Part:x16}. " +
                    "The app must emit the same calls for the same inputs.");
        if (theirs.Image != own.Image)
            throw DifferentImage(name.Lsn, own.Image, $"that of {name}", theirs.Image);
        Agreed = Lsn.Max(Agreed, name.Lsn);
        ReplicaLock.PublishAgreed(_files, _directory, inputs.Options.Replica, Agreed);
    }

    private DivergenceException DifferentImage(Lsn place, ulong own, string other, ulong theirs)
    {
        ImageDiffersAt = place;
        return new DivergenceException(
            $"the app's image at log position {place} differs from {other}, though all calls so far were the same: hash {own:x16} here, {theirs:x16} there. " +
            "State must follow from the inputs alone: look for clocks, randomness, hash codes that are kept, other threads, or what one process has and another has not.");
    }

    /// <summary>The log decides who is right, and the primary of an epoch is the one whose calls it holds.</summary>
    private bool IsOfAPrimary(CheckpointFileName name) =>
        PrimaryLock.IsThere(_files, _directory, name.Epoch, name.Replica);
}
