using Ambrosia.Coordinator.Hosting;
using Ambrosia.Coordinator.Links;
using Ambrosia.Coordinator.Replica;
using Ambrosia.Protocol;

namespace Ambrosia.Simulation;

/// <summary>
/// What one process has to do with the catalog: it publishes where it is once it is primary and from time to time, looks for peers that
/// have become primary anew, and looks up whom it dials. Plays the threads that do so, each of which hangs when the catalog does.
/// </summary>
internal sealed class ReplicaCatalog
{
    private static readonly TimeSpan s_publishEvery = TimeSpan.FromSeconds(1), s_lookEvery = TimeSpan.FromMilliseconds(100);

    private readonly World _world;
    private readonly SimulatedReplica _replica;
    private readonly Coordinator.Coordinator _parts;
    private readonly CatalogPublisher _publisher;

    /// <summary>Dials that hang in the catalog, and since when.</summary>
    private readonly List<(InstanceId Peer, TimeSpan Since)> _hanging = [];
    private bool _isPublicationAsked;
    private TimeSpan _published, _compared, _looked;

    public ReplicaCatalog(World world, SimulatedReplica replica, CoordinatorInputs inputs, Coordinator.Coordinator parts)
    {
        (_world, _replica, _parts) = (world, replica, parts);
        _publisher = new CatalogPublisher(inputs, world.Catalogs.Store, new BlockingCalls(replica.Time, inputs.Logger), parts,
            () => replica.Address, ((IPumps)replica).Fail);
        parts.Primary += _ => _isPublicationAsked = true;
    }

    /// <summary>Does what is due; false: nothing was.</summary>
    public bool Step()
    {
        if (_world.Catalogs.Hangs) return false;
        if (_isPublicationAsked || _replica.Now - _compared >= s_publishEvery)
        {
            bool anyhow = _isPublicationAsked || _replica.Now - _published >= 5 * s_publishEvery;
            _isPublicationAsked = false;
            _compared = _replica.Now;
            if (anyhow) _published = _replica.Now;
            _publisher.Publish(anyhow);
            return true;
        }
        if (_replica.Now - _looked < s_lookEvery) return false;
        _looked = _replica.Now;
        PeerCatalog.TakePublished(_world.Catalogs.Store, _parts.Links.Table);
        return true;
    }

    public void Dial()
    {
        if (!_world.Catalogs.Hangs)
        {
            foreach ((InstanceId peer, TimeSpan since) in _hanging) Connect(peer, since);
            _hanging.Clear();
        }
        foreach (InstanceId peer in _parts.Links.PeersToDial())
        {
            if (_world.Catalogs.Hangs) _hanging.Add((peer, _replica.Now));
            else Connect(peer, _replica.Now);
        }
    }

    private void Connect(InstanceId peer, TimeSpan since)
    {
        DialFailure? failure = null;
        try
        {
            if (PeerCatalog.FindAddress(_world.Catalogs.Store, peer, out failure) is { } address && !_world.TryConnect(_replica, address))
                failure = DialFailure.NoAnswer;
        }
        catch (IOException)
        {
            failure = DialFailure.NoAnswer;
        }
        if (failure == DialFailure.NoAnswer) _world.Saw("dialled in vain");
        _parts.Links.Table.Dialled(peer, _replica.Now - since, failure);
    }
}
