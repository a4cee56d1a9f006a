using System.Globalization;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Locking;
using Microsoft.Extensions.Logging;

namespace CRA.Catalog;

/// <summary>
/// Keeps the catalog in a store that many machines reach (protocol P8.5): <c>secret</c>, and one value for each instance, which is replaced
/// by compare and swap. So no epoch goes down, no name has two UUIDs, and no reader sees an older entry than before. Where the answer to a
/// write is lost the value is read again, and the write counts as made only if it stands there. Any thread may call any member; all of them
/// block on the store.
/// </summary>
public sealed class StoreCatalog : ICatalog
{
    private const string SecretName = "secret", EntryPrefix = "instance:";

    /// <summary>So often a publisher may find that another was faster; each time that one got on.</summary>
    private const int TriesMax = 32;

    /// <summary>Warnings are remembered for at most this many names.</summary>
    private const int WarnedMax = 1024;

    private readonly ICatalogStore _store;
    private readonly CatalogAccess _access;
    private readonly RankedLock _lock = new(LockRank.StoreCatalog);

    /// <summary>The names for which a warning was given. Guarded by <see cref="_lock"/>.</summary>
    private readonly HashSet<string> _warned = new(StringComparer.Ordinal);

    /// <summary>The secret is null until its first use and never changes afterwards. It is read and set as a whole.</summary>
    private volatile byte[]? _secret;

    public StoreCatalog(ICatalogStore store, CatalogAccess access) => (_store, _access) = (store, access);

    public ReadOnlyMemory<byte> Secret => _secret ??= ReadSecret() ?? MakeSecret();

    public void CheckSecret()
    {
        if (ReadSecret() is null) RefuseForeign();
    }

    public CatalogEntry? Find(InstanceId instance)
    {
        string name = NameOf(instance);
        return _store.Read(name) is { } stored ? Decode(name, stored) : null;
    }

    public IReadOnlyList<CatalogEntry> All()
    {
        var entries = new SortedDictionary<InstanceId, CatalogEntry>();
        foreach ((string name, StoredValue stored) in _store.ReadAll(EntryPrefix))
            if (Decode(name, stored) is { } entry) entries[entry.Instance] = entry;
        return [.. entries.Values];
    }

    public IReadOnlyDictionary<InstanceId, Epoch> Epochs()
    {
        var epochs = new Dictionary<InstanceId, Epoch>();
        foreach ((string name, ulong epoch) in _store.ReadLabels(EntryPrefix))
            if (TryParseName(name, out InstanceId instance) && epoch > 0) epochs[instance] = new Epoch(epoch);
        return epochs;
    }

    public PublishResult Publish(CatalogEntry entry)
    {
        if (CatalogLimits.WhatIsWrong(entry) is { } wrong) throw new ArgumentException($"Catalog entry refused: {wrong}.", nameof(entry));
        string name = NameOf(entry.Instance);
        byte[] text = EntryJson.Encode(entry);
        return Change<PublishResult>(name, stored =>
        {
            if (stored is not null && Decode(name, stored) is { } standing)
            {
                if (standing.Uuid != entry.Uuid) return PublishResult.NameTaken;
                if (standing.Epoch > entry.Epoch) return PublishResult.Outdated;
                if (standing.Equals(entry)) return PublishResult.Published; // also where an answer was lost: it is ours, since it is equal
            }
            return _store.TryWrite(name, text, entry.Epoch.Value, stored?.Version) ? PublishResult.Published : null;
        });
    }

    /// <summary>Only the value that was looked at is removed, so that a request that comes late removes nothing that is newer.</summary>
    public void Forget(InstanceId instance)
    {
        string name = NameOf(instance);
        Change<bool>(name, stored => stored is null || _store.TryRemove(name, stored.Version) ? true : null);
    }

    /// <summary>
    /// Reads the value and lets <paramref name="attempt"/> change it, until that has an answer. Its first failure may be an answer that
    /// was lost: then the store is asked again before anybody is told.
    /// </summary>
    private TResult Change<TResult>(string name, Func<StoredValue?, TResult?> attempt)
        where TResult : struct
    {
        bool hasFailed = false;
        for (int i = 0; i < TriesMax; i++)
        {
            StoredValue? stored = _store.Read(name);
            try
            {
                if (attempt(stored) is { } result) return result;
            }
            catch (IOException) when (!hasFailed)
            {
                hasFailed = true;
            }
        }
        throw new IOException($"The value '{name}' of the catalog {_store.Place} was changed by others {TriesMax} times while it was to be changed here.");
    }

    private byte[]? ReadSecret()
    {
        if (_store.Read(SecretName) is not { } stored) return null;
        if (stored.Value.Length == DirectoryCatalog.SecretBytes) return stored.Value;
        throw new CatalogException(
            $"The secret of the catalog {_store.Place} holds {stored.Value.Length} bytes, not {DirectoryCatalog.SecretBytes}, so no link could be authenticated. "
            + "Put back the one that the other coordinators use; or stop them all and remove it: a new one is made then.");
    }

    private byte[] MakeSecret()
    {
        if (!_access.MayMakeSecret)
            throw new IOException($"there is no catalog in {_store.Place}: it has no secret. Give the place that the coordinators use (--catalog)");
        RefuseForeign();
        byte[] secret = new byte[DirectoryCatalog.SecretBytes];
        _access.Random(secret);
        try
        {
            if (_store.TryWrite(SecretName, secret, 0, null)) return secret;
        }
        catch (IOException)
        {
            // What stands there now decides, whether it is ours or the winner's of a race.
        }
        return ReadSecret() ?? throw new IOException($"The secret of the catalog {_store.Place} could not be made, or was removed meanwhile.");
    }

    /// <summary>A catalog is not begun among what others keep.</summary>
    private void RefuseForeign()
    {
        if (_store.FindForeign([SecretName, EntryPrefix]) is { } foreign)
            throw new CatalogException(
                $"The place {_store.Place} is no catalog: it has no secret, and it holds '{foreign}', which is none of ours. Give a place of its own with --catalog; nothing was written.");
    }

    private CatalogEntry? Decode(string name, StoredValue stored)
    {
        CatalogEntry? entry = EntryJson.Decode(stored.Value, out string wrong);
        if (entry is not null && NameOf(entry.Instance) != name) wrong = $"it holds the entry of {entry.Instance}";
        if (wrong.Length == 0) return entry;
        Warn(name, wrong);
        return null;
    }

    private static string NameOf(InstanceId instance) =>
        instance.Shard == 0 ? EntryPrefix + instance.Name
        : string.Create(CultureInfo.InvariantCulture, $"{EntryPrefix}{instance.Name}.{instance.Shard}");

    private static bool TryParseName(string name, out InstanceId instance)
    {
        instance = default;
        string[] parts = name[EntryPrefix.Length..].Split('.');
        ushort shard = 0;
        if (parts.Length > 2 || !Names.IsValid(parts[0])
            || (parts.Length == 2 && !ushort.TryParse(parts[1], NumberStyles.None, CultureInfo.InvariantCulture, out shard))) return false;
        instance = new InstanceId(parts[0], shard);
        return NameOf(instance) == name;
    }

    private void Warn(string name, string why)
    {
        using (_lock.Enter())
        {
            if (_warned.Count >= WarnedMax || !_warned.Add(name)) return;
        }
        _access.Logger.CatalogValueIgnored(name, _store.Place, why);
    }
}
