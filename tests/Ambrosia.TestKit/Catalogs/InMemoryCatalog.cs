using Ambrosia.Protocol;
using CRA;
using CRA.Catalog;

namespace Ambrosia.TestKit.Catalogs;

/// <summary>
/// A catalog in memory that keeps the rules of <see cref="DirectoryCatalog"/>: the highest epoch of a name wins, the first UUID owns the
/// name until it is forgotten, and the secret is made once. All processes of a simulated cluster share one object. Any thread may call it;
/// one lock guards everything, so that each call takes effect as a whole.
/// </summary>
public sealed class InMemoryCatalog : ICatalog
{
    private readonly Lock _gate = new();

    /// <summary>The entry of the highest epoch of each instance. Guarded by the lock.</summary>
    private readonly SortedDictionary<InstanceId, CatalogEntry> _entries = [];

    private readonly RandomBytes _random;

    /// <summary>The secret is null until its first use and never changes afterwards. Guarded by the lock.</summary>
    private byte[]? _secret;

    /// <summary>The store cannot be reached while this is true: every member throws <see cref="IOException"/>.</summary>
    private bool _isDown;

    /// <param name="random">Source of the secret.</param>
    public InMemoryCatalog(RandomBytes random) => _random = random;

    /// <summary>Whether the store is out of reach, as a shared directory is while the network is gone.</summary>
    public bool IsDown
    {
        get { lock (_gate) return _isDown; }
        set { lock (_gate) _isDown = value; }
    }

    public ReadOnlyMemory<byte> Secret
    {
        get
        {
            lock (_gate)
            {
                CheckReachable();
                if (_secret is not null) return _secret;
                _random(_secret = new byte[DirectoryCatalog.SecretBytes]);
                return _secret;
            }
        }
    }

    public CatalogEntry? Find(InstanceId instance)
    {
        lock (_gate)
        {
            CheckReachable();
            return _entries.GetValueOrDefault(instance);
        }
    }

    public IReadOnlyList<CatalogEntry> All()
    {
        lock (_gate)
        {
            CheckReachable();
            return [.. _entries.Values];
        }
    }

    public IReadOnlyDictionary<InstanceId, Epoch> Epochs()
    {
        lock (_gate)
        {
            CheckReachable();
            return _entries.ToDictionary(static entry => entry.Key, static entry => entry.Value.Epoch);
        }
    }

    public PublishResult Publish(CatalogEntry entry)
    {
        if (CatalogLimits.WhatIsWrong(entry) is { } wrong) throw new ArgumentException($"Catalog entry refused: {wrong}.", nameof(entry));
        lock (_gate)
        {
            CheckReachable();
            if (_entries.TryGetValue(entry.Instance, out CatalogEntry? standing))
            {
                if (standing.Uuid != entry.Uuid) return PublishResult.NameTaken;
                if (standing.Epoch > entry.Epoch) return PublishResult.Outdated;
            }
            _entries[entry.Instance] = entry;
            return PublishResult.Published;
        }
    }

    public void Forget(InstanceId instance)
    {
        lock (_gate)
        {
            CheckReachable();
            _entries.Remove(instance);
        }
    }

    public void CheckSecret()
    {
        lock (_gate) CheckReachable();
    }

    private void CheckReachable()
    {
        if (_isDown) throw new IOException("The catalog cannot be reached: this test has taken it down.");
    }
}
