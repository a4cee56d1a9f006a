using System.Globalization;
using Ambrosia.Protocol;

namespace CRA;

/// <summary>
/// The catalog as a directory of small files (protocol P8): <c>secret</c>, and <c>&lt;instance&gt;.&lt;epoch&gt;</c> for each instance and epoch.
/// The entry of an instance is its readable file of the highest epoch. Publishers need no lock: a file is replaced as a whole, and
/// readers that lose a race with a removal look again. Any thread may call; everything here blocks on files.
/// </summary>
public sealed class DirectoryCatalog : ICatalog
{
    public const string SecretName = "secret";
    public const int SecretBytes = 32;

    // A file can vanish between listing and reading only when a higher epoch has been published, so a second look finds that one.
    private const int LooksMax = 16;

    // Bound on the names that a warning is remembered for.
    private const int WarnedMax = 1024;

    private readonly ICatalogFiles _files;
    private readonly RandomBytes _random;
    private readonly Action<string> _warn;
    private readonly Lock _lock = new();

    // Names that a warning has been given for. Guarded by _lock.
    private readonly HashSet<string> _warned = new(StringComparer.Ordinal);

    // Null until the first use, then never changes. Guarded by _lock.
    private byte[]? _secret;

    /// <param name="random">Source of the secret; must be fit for cryptography.</param>
    /// <param name="warn">Gets one line for each file that is ignored, once a file name.</param>
    public DirectoryCatalog(ICatalogFiles files, RandomBytes random, Action<string> warn)
    {
        _files = files;
        _random = random;
        _warn = warn;
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
        var names = new SortedSet<string>(StringComparer.Ordinal);
        foreach (string file in _files.List())
            if (TryParseName(file, out string name, out _)) names.Add(name);
            else WarnOfName(file);
        var entries = new List<CatalogEntry>(names.Count);
        foreach (string name in names)
            if (Find(new InstanceId(name)) is { } entry) entries.Add(entry);
        return entries;
    }

    public PublishAnswer Publish(CatalogEntry entry)
    {
        if (CatalogLimits.WhatIsWrong(entry) is { } wrong) throw new ArgumentException($"Catalog entry refused: {wrong}.", nameof(entry));
        RefuseShard(entry.Instance);
        if (Find(entry.Instance) is { } standing)
        {
            if (standing.Uuid != entry.Uuid) return PublishAnswer.NameTaken;
            if (standing.Epoch > entry.Epoch) return PublishAnswer.Outdated;
            if (standing.Equals(entry)) return PublishAnswer.Published; // re-published with each heartbeat: not a flush each time
        }
        _files.Replace(FileName(entry.Instance, entry.Epoch), EntryJson.Encode(entry));
        foreach (ulong epoch in EpochsOf(entry.Instance))
            if (epoch < entry.Epoch.Value) _files.Delete(FileName(entry.Instance, new Epoch(epoch)));
        return PublishAnswer.Published;
    }

    public void Forget(InstanceId instance)
    {
        RefuseShard(instance);
        // From the lowest up, so that a reader that comes between never sees an older entry than before.
        foreach (ulong epoch in EpochsOf(instance).Reverse()) _files.Delete(FileName(instance, new Epoch(epoch)));
    }

    public ReadOnlyMemory<byte> Secret
    {
        get
        {
            lock (_lock) return _secret ??= ReadSecret() ?? MakeSecret();
        }
    }

    private byte[]? ReadSecret()
    {
        byte[]? secret = _files.Read(SecretName, SecretBytes + 1);
        if (secret is null || secret.Length == SecretBytes) return secret;
        throw new InvalidDataException(
            $"The catalog's file '{SecretName}' does not hold {SecretBytes} bytes, so no link could be authenticated. "
            + "Put back the file that the other coordinators use, or stop them all and remove it: a new one is made then.");
    }

    private byte[] MakeSecret()
    {
        byte[] secret = new byte[SecretBytes];
        _random(secret);
        // The loser of a race takes the winner's.
        return _files.CreateNew(SecretName, secret) ? secret : ReadSecret() ?? throw new IOException("The catalog's secret was removed while it was being made.");
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
            CatalogEntry? entry = text.Length == 0 ? null : Decode(file, text, instance.Name, epoch);
            if (entry is not null) return entry.Instance == instance ? entry : null; // of another shard, then
        }
        return null;
    }

    // Null when the file is gone; empty when it cannot be read.
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

    private CatalogEntry? Decode(string file, byte[] text, string name, ulong epoch)
    {
        CatalogEntry? entry = EntryJson.Decode(text, out string wrong);
        if (entry is not null && (entry.Instance.Name != name || entry.Epoch.Value != epoch))
            wrong = $"it holds the entry of {entry.Instance} in epoch {entry.Epoch}";
        if (wrong.Length == 0) return entry;
        Warn(file, wrong);
        return null;
    }

    // Highest first.
    private ulong[] EpochsOf(InstanceId instance)
    {
        var epochs = new List<ulong>();
        foreach (string file in _files.List())
            if (TryParseName(file, out string name, out ulong epoch) && name == instance.Name) epochs.Add(epoch);
        epochs.Sort((a, b) => b.CompareTo(a));
        return [.. epochs];
    }

    private static string FileName(InstanceId instance, Epoch epoch) => $"{instance.Name}.{epoch}";

    // P8.1 names a file by instance and epoch only: two shards would overwrite each other.
    private static void RefuseShard(InstanceId instance)
    {
        if (instance.Shard != 0) throw new ArgumentException($"{instance}: the directory catalog holds shard 0 only (P8.1).", nameof(instance));
    }

    private static bool TryParseName(string file, out string name, out ulong epoch)
    {
        int dot = file.IndexOf('.');
        name = dot > 0 ? file[..dot] : "";
        epoch = 0;
        // The shortest form only, or one epoch would have several files.
        return Names.IsValid(name)
            && ulong.TryParse(file.AsSpan(dot + 1), NumberStyles.None, CultureInfo.InvariantCulture, out epoch)
            && epoch > 0 && file[dot + 1] != '0';
    }

    private void WarnOfName(string file)
    {
        if (file != SecretName && !file.StartsWith('.')) Warn(file, "its name is not <instance>.<epoch>");
    }

    private void Warn(string file, string why)
    {
        lock (_lock)
        {
            if (_warned.Count >= WarnedMax || !_warned.Add(file)) return;
        }
        _warn($"Catalog file '{file}' is ignored: {why} (P8.2).");
    }
}
