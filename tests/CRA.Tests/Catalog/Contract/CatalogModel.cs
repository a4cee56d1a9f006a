using Ambrosia.Protocol;
using Ambrosia.TestKit;
using CRA.Catalog;

namespace CRA.Tests;

/// <summary>
/// One random program over a catalog, given by its seed: two to eight publishers over three names of its own. Before each request of one
/// another may act, requests are lost, late or doubled, and publishers die. What they see is compared with what was asked for: an entry
/// that nobody published, an epoch that goes down, a second UUID under a name. One thread runs it.
/// </summary>
internal sealed class CatalogModel
{
    private const int StepsMax = 40, DepthMax = 2;
    private static readonly CatalogFault[] s_ofADisk = [CatalogFault.RequestLost, CatalogFault.AnswerLost, CatalogFault.Crash];
    private static readonly CatalogFault[] s_ofANetwork = [.. s_ofADisk, CatalogFault.Doubled, CatalogFault.Late];

    private readonly CatalogFixture _fixture;
    private readonly SimulatedRandom _random;
    private readonly CatalogFaults _faults = new();
    private readonly InstanceId[] _names;
    private readonly ICatalog?[] _publishers;
    private readonly bool _forgets;

    /// <summary>All entries that somebody was told to publish, whatever came of it.</summary>
    private readonly HashSet<CatalogEntry> _asked = [];

    /// <summary>The highest epoch of each name that was seen in the catalog; in programs that forget nothing it never goes down.</summary>
    private readonly Dictionary<InstanceId, ulong> _seen = [];

    /// <summary>The UUID of each name that was seen first, in programs that forget nothing.</summary>
    private readonly Dictionary<InstanceId, Guid> _owners = [];

    private int _depth;
    private string? _wrong;

    public CatalogModel(CatalogFixture fixture, ulong seed)
    {
        _fixture = fixture;
        _random = new SimulatedRandom(seed);
        _names = [.. Enumerable.Range(0, 3).Select(i => new InstanceId($"p{seed}-{i}"))];
        _publishers = new ICatalog?[_random.Next(2, 9)];
        _forgets = _random.Chance(30);
    }

    /// <summary>Runs the program; returns what was wrong, or null.</summary>
    public string? Run()
    {
        int faultsPercent = _random.Next(0, 30);
        CatalogFault[] kinds = _fixture.Features.HasFlag(CatalogFeatures.Network) ? s_ofANetwork : s_ofADisk;
        _faults.Next = () => _random.Chance(faultsPercent) ? _random.Pick(kinds) : CatalogFault.None;
        _faults.Meanwhile = () =>
        {
            if (_depth < DepthMax && _random.Chance(15)) Step();
        };
        for (int i = 0; i < StepsMax && _wrong is null; i++)
        {
            Step();
            if (_random.Chance(10)) _faults.Deliver();
        }
        _faults.Meanwhile = static () => { };
        _faults.Next = static () => CatalogFault.None;
        _faults.Deliver();
        if (_wrong is null) CheckEnd();
        return _wrong;
    }

    private void Step()
    {
        int who = _random.Next(_publishers.Length);
        ICatalog catalog = _publishers[who] ??= _fixture.NewCatalog(_faults);
        InstanceId name = _random.Pick(_names);
        _depth++;
        try
        {
            int kind = _random.Next(100);
            if (kind < 45) Publish(catalog, name);
            else if (kind < 75) Look(catalog, name);
            else if (kind < 85) foreach (CatalogEntry entry in catalog.All()) Check(entry, null);
            else if (kind < 95) catalog.Epochs();
            else if (_forgets) catalog.Forget(name);
        }
        catch (IOException)
        {
            // It is not known what came of it.
        }
        catch (PublisherCrashException)
        {
            _publishers[who] = null;
        }
        finally
        {
            _depth--;
        }
    }

    private void Publish(ICatalog catalog, InstanceId name)
    {
        // A directory gives a name that two want at the same moment to one of them only at the next publication.
        bool isOther = _fixture.Features.HasFlag(CatalogFeatures.Swaps) && _random.Chance(20);
        ulong epoch = (ulong)_random.Next(1, 12);
        CatalogEntry entry = CatalogContract.Entry(epoch, name.Name, isOther ? new Guid(_random.Next(1, 4), 0, 0, new byte[8]) : null,
            $"127.0.0.1:{_random.Next(1, 60_000)}");
        _asked.Add(entry);
        ulong floor = _seen.GetValueOrDefault(name);
        bool wasTaken = _owners.TryGetValue(name, out Guid owner) && owner != entry.Uuid;
        PublishResult result = catalog.Publish(entry);
        if (_forgets) return;
        if (result == PublishResult.Published)
        {
            if (epoch < floor) _wrong = $"{name} was published in epoch {epoch} behind {floor}";
            if (wasTaken) _wrong = $"{name} was published for {entry.Uuid}, and belongs to {owner}";
            _owners.TryAdd(name, entry.Uuid);
            _seen[name] = Math.Max(_seen.GetValueOrDefault(name), epoch);
        }
        else if (result == PublishResult.Outdated && !_asked.Any(each => each.Instance == name && each.Epoch > entry.Epoch))
            _wrong = $"{name} is outdated in epoch {epoch}, which nobody is beyond";
        else if (result == PublishResult.NameTaken && !_asked.Any(each => each.Instance == name && each.Uuid != entry.Uuid))
            _wrong = $"{name} is taken, and nobody else wanted it";
    }

    private void Look(ICatalog catalog, InstanceId name)
    {
        ulong floor = _seen.GetValueOrDefault(name);
        CatalogEntry? found = catalog.Find(name);
        if (found is not null) Check(found, floor);
        else if (floor > 0 && !_forgets) _wrong = $"{name} is not there, and was in epoch {floor}";
    }

    /// <param name="floor">The epoch that was seen before the look began; null: it is not known.</param>
    private void Check(CatalogEntry found, ulong? floor)
    {
        if (!_names.Contains(found.Instance)) return; // of another program
        if (!_asked.Contains(found)) _wrong = $"{found.Instance} in epoch {found.Epoch} was published by nobody";
        if (_forgets || floor is null) return;
        if (found.Epoch.Value < floor) _wrong = $"{found.Instance} is in epoch {found.Epoch}, and was in {floor}";
        if (_owners.TryGetValue(found.Instance, out Guid owner) && owner != found.Uuid)
            _wrong = $"{found.Instance} belongs to {found.Uuid}, and belonged to {owner}";
        _owners.TryAdd(found.Instance, found.Uuid);
        _seen[found.Instance] = Math.Max(_seen.GetValueOrDefault(found.Instance), found.Epoch.Value);
    }

    /// <summary>When all is quiet, every member says the same, and whoever may publish can.</summary>
    private void CheckEnd()
    {
        ICatalog one = _fixture.NewCatalog(), other = _fixture.NewCatalog();
        Dictionary<InstanceId, CatalogEntry> all = one.All().ToDictionary(static entry => entry.Instance);
        IReadOnlyDictionary<InstanceId, Epoch> epochs = other.Epochs();
        foreach (InstanceId name in _names)
        {
            Look(one, name);
            CatalogEntry? found = other.Find(name);
            if (!Equals(found, all.GetValueOrDefault(name))) _wrong = $"{name} is not the same alone and among all";
            if (found?.Epoch != (epochs.TryGetValue(name, out Epoch epoch) ? epoch : null)) _wrong = $"the epoch of {name} is not that of its entry";
            if (found is null) continue;
            CatalogEntry next = found with { Epoch = new Epoch(found.Epoch.Value + 1) };
            if (one.Publish(next) != PublishResult.Published || !next.Equals(other.Find(name))) _wrong = $"{name} cannot go on";
        }
    }
}
