using System.Globalization;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Locking;
using Microsoft.Extensions.Logging;

namespace CRA.Catalog;

/// <summary>
/// Keeps the catalog in a directory of small files (protocol P8): <c>secret</c>, and <c>&lt;instance&gt;.&lt;epoch&gt;</c> for each
/// instance and epoch; a shard other than 0 has <c>&lt;instance&gt;.&lt;shard&gt;.&lt;epoch&gt;</c>. The entry of an instance is its
/// readable file of the highest epoch. Publishers need no lock: a file is replaced as a whole, and readers that lose a race with a removal
/// look again. Any thread may call any member; all of them block on files.
/// </summary>
public sealed class DirectoryCatalog : ICatalog
{
    public const string SecretName = "secret";
    public const int SecretBytes = 32;

    /// <summary>
    /// A file can vanish between listing and reading only when a higher epoch has been published, so a second look finds that one.
    /// </summary>
    private const int LooksMax = 16;

    /// <summary>Warnings are remembered for at most this many names.</summary>
    private const int WarnedMax = 1024;

    private readonly ICatalogFiles _files;
    private readonly RandomBytes _random;
    private readonly ILogger _logger;
    private readonly RankedLock _lock = new(LockRank.DirectoryCatalog);

    /// <summary>The names for which a warning was given. Guarded by <see cref="_lock"/>.</summary>
    private readonly HashSet<string> _warned = new(StringComparer.Ordinal);

    /// <summary>The secret is null until its first use and never changes afterwards. Guarded by <see cref="_lock"/>.</summary>
    private byte[]? _secret;

    /// <param name="random">Source of the secret; must be fit for cryptography.</param>
    /// <param name="logger">Receives one event for each file that is ignored, once for each name.</param>
    public DirectoryCatalog(ICatalogFiles files, RandomBytes random, ILogger logger)
    {
        _files = files;
        _random = random;
        _logger = logger;
    }

    public CatalogEntry? Find(InstanceId instance)
    {
        for (int look = 0; look < LooksMax; look++)
        {
            CatalogEntry? found = FindIn(EpochsOf(instance), instance, out bool vanished);
            if (found is not null || !vanished) return found;
        }
        throw new IOException($"The catalog's entries of {instance} vanished {LooksMax} times while they were read.");
    }

    public IReadOnlyList<CatalogEntry> All()
    {
        var names = new SortedSet<InstanceId>();
        foreach (string file in _files.List())
            if (TryParseName(file, out InstanceId instance, out _)) names.Add(instance);
            else WarnOfName(file);
        var entries = new List<CatalogEntry>(names.Count);
        foreach (InstanceId name in names)
            if (Find(name) is { } entry) entries.Add(entry);
        return entries;
    }

    public IReadOnlyDictionary<InstanceId, Epoch> Epochs()
    {
        var epochs = new Dictionary<InstanceId, Epoch>();
        foreach (string file in _files.List())
        {
            if (!TryParseName(file, out InstanceId found, out ulong epoch)) continue;
            if (!epochs.TryGetValue(found, out Epoch known) || known.Value < epoch) epochs[found] = new Epoch(epoch);
        }
        return epochs;
    }

    public PublishResult Publish(CatalogEntry entry)
    {
        if (CatalogLimits.WhatIsWrong(entry) is { } wrong) throw new ArgumentException($"Catalog entry refused: {wrong}.", nameof(entry));
        if (Find(entry.Instance) is { } standing)
        {
            if (standing.Uuid != entry.Uuid) return PublishResult.NameTaken;
            if (standing.Epoch > entry.Epoch) return PublishResult.Outdated;
            if (standing.Equals(entry)) return PublishResult.Published; // re-published with each heartbeat: not a flush each time
        }
        _files.Replace(FileName(entry.Instance, entry.Epoch), EntryJson.Encode(entry));
        foreach (ulong epoch in EpochsOf(entry.Instance))
            if (epoch < entry.Epoch.Value) _files.Delete(FileName(entry.Instance, new Epoch(epoch)));
        return PublishResult.Published;
    }

    public void Forget(InstanceId instance)
    {
        // From the lowest up, so that a reader that comes between never sees an older entry than before.
        foreach (ulong epoch in EpochsOf(instance).Reverse()) _files.Delete(FileName(instance, new Epoch(epoch)));
    }

    public ReadOnlyMemory<byte> Secret
    {
        get
        {
            using (_lock.Enter()) return _secret ??= ReadSecret() ?? MakeSecret();
        }
    }

    public void CheckSecret() => ReadSecret();

    private byte[]? ReadSecret()
    {
        byte[]? secret = _files.Read(SecretName, SecretBytes + 1);
        if (secret is null) return null;
        if (_files.WhatIsOpen(SecretName) is { } open)
            throw new CatalogException(
                $"The catalog's secret {_files.PathOf(SecretName)} is not secret: {open}, and who knows it can pass for any instance. "
                + "Stop all coordinators of this catalog, remove the file, and start them: a new one is made. If nobody else can have read it, 'chmod 600' it.");
        if (secret.Length == SecretBytes) return secret;
        throw new CatalogException(
            $"The catalog's secret {_files.PathOf(SecretName)} holds {(secret.Length > SecretBytes ? "more than" : $"{secret.Length} bytes, not")} {SecretBytes} bytes, so no link could be authenticated. "
            + "Put back the file that the other coordinators use; or stop them all and remove it: a new one is made then.");
    }

    private byte[] MakeSecret()
    {
        byte[] secret = new byte[SecretBytes];
        _random(secret);
        // The loser of a race takes the winner's.
        return _files.CreateNew(SecretName, secret) ? secret
            : ReadSecret() ?? throw new IOException("The catalog's secret was removed while it was being made.");
    }

    private CatalogEntry? FindIn(IReadOnlyList<ulong> epochs, InstanceId instance, out bool vanished)
    {
        vanished = false;
        foreach (ulong epoch in epochs)
        {
            string file = FileName(instance, new Epoch(epoch));
            byte[]? text = ReadEntry(file);
            if (text is null)
            {
                vanished = true;
                return null;
            }
            CatalogEntry? entry = text.Length == 0 ? null : Decode(file, text, instance, epoch);
            if (entry is not null) return entry;
        }
        return null;
    }

    /// <summary>Reads a file; returns null when it is gone, and no bytes when it cannot be read.</summary>
    private byte[]? ReadEntry(string file)
    {
        try
        {
            byte[]? text = _files.Read(file, CatalogLimits.EntryBytesMax + 1);
            if (text is { Length: 0 }) Warn(file, "it is empty");
            return text;
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            Warn(file, $"it cannot be read: {e.Message}");
            return [];
        }
    }

    private CatalogEntry? Decode(string file, byte[] text, InstanceId instance, ulong epoch)
    {
        CatalogEntry? entry = EntryJson.Decode(text, out string wrong);
        if (entry is not null && (entry.Instance != instance || entry.Epoch.Value != epoch))
            wrong = $"it holds the entry of {entry.Instance} in epoch {entry.Epoch}";
        if (wrong.Length == 0) return entry;
        Warn(file, wrong);
        return null;
    }

    /// <summary>Lists the epochs for which the instance has a file, the highest first.</summary>
    private ulong[] EpochsOf(InstanceId instance)
    {
        var epochs = new List<ulong>();
        foreach (string file in _files.List())
            if (TryParseName(file, out InstanceId found, out ulong epoch) && found == instance) epochs.Add(epoch);
        epochs.Sort((a, b) => b.CompareTo(a));
        return [.. epochs];
    }

    private static string FileName(InstanceId instance, Epoch epoch) =>
        instance.Shard == 0 ? $"{instance.Name}.{epoch}"
        : string.Create(CultureInfo.InvariantCulture, $"{instance.Name}.{instance.Shard}.{epoch}");

    /// <summary>
    /// Parses a file name. Only the shortest form of each number counts, or one epoch would have several files. No instance name has a dot,
    /// so three parts mean a shard.
    /// </summary>
    private static bool TryParseName(string file, out InstanceId instance, out ulong epoch)
    {
        (instance, epoch) = (default, 0);
        string[] parts = file.Split('.');
        ulong shard = 0;
        if (parts.Length is not (2 or 3) || !Names.IsValid(parts[0]) || !TryParseNumber(parts[^1], out epoch)) return false;
        if (parts.Length == 3 && (!TryParseNumber(parts[1], out shard) || shard > ushort.MaxValue)) return false;
        instance = new InstanceId(parts[0], (ushort)shard);
        return true;
    }

    private static bool TryParseNumber(string text, out ulong number) =>
        ulong.TryParse(text, NumberStyles.None, CultureInfo.InvariantCulture, out number) && number > 0 && text[0] != '0';

    private void WarnOfName(string file)
    {
        if (file != SecretName && !file.StartsWith('.')) Warn(file, "its name is not <instance>.<epoch>");
    }

    private void Warn(string file, string why)
    {
        using (_lock.Enter())
        {
            if (_warned.Count >= WarnedMax || !_warned.Add(file)) return;
        }
        _logger.CatalogFileIgnored(file, why);
    }
}
