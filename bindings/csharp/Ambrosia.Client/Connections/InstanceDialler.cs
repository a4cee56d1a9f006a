using System.Diagnostics;
using System.Security.Cryptography;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using CRA.Authentication;
using CRA.Catalog;
using CRA.Links;
using CRA.Places;
using Microsoft.Extensions.Logging.Abstractions;

namespace Ambrosia.Client.Connections;

/// <summary>
/// Looks an instance up in the catalog and dials one of its replicas: the primary, or for queries alone any one of the secondaries.
/// Thread: the pump's.
/// </summary>
internal sealed class InstanceDialler(ICatalog catalog, InstanceId instance, ClientOptions options, bool toPrimary)
{
    /// <summary>
    /// Looks take at most this share of the time between dials, so that a store that many clients ask is asked the less the slower it is.
    /// </summary>
    private const int RestShare = 50;

    /// <summary>The catalog is looked at no oftener than this between two dials.</summary>
    private static readonly TimeSpan s_lookEvery = TimeSpan.FromMilliseconds(15);

    /// <summary>The replica that was dialled last; null: the catalog had none.</summary>
    private ReplicaEntry? _dialled;

    /// <summary>Opens the catalog for somebody who only looks: nothing is made or changed there.</summary>
    /// <exception cref="CatalogException">This program has no store for it, or the store's credentials will not do.</exception>
    internal static ICatalog OpenCatalog(CatalogPlace place)
    {
        CatalogCredentials credentials = place.IsDirectory ? CatalogCredentials.None
            : CatalogCredentials.Read(Environment.GetEnvironmentVariable, static (path, _) => File.ReadAllText(path));
        return CatalogStores.Open(place,
            new CatalogAccess(static path => new ReadOnlyCatalogFiles(path), RandomNumberGenerator.Fill, TimeProvider.System,
                NullLogger.Instance)
            {
                Credentials = credentials, MayMakeSecret = false,
            });
    }

    /// <summary>Returns a connection to a replica; null when the catalog lists none that would do.</summary>
    /// <exception cref="Exception">The catalog or the replica is out of reach, as <see cref="IsTrouble"/> tells.</exception>
    internal LinkConnection? TryDial(CancellationToken stop)
    {
        _dialled = Find();
        return _dialled is null ? null : LinkDialler.Dial(_dialled.Address, Settings(), stop, instance.Name);
    }

    private ReplicaEntry? Find() => catalog.Find(instance) is { } entry ? Choose(entry) : null;

    /// <summary>
    /// Rests before the next dial: so long, or until the catalog names another primary than the one that was dialled. Pauses between dials
    /// grow with the time in which nobody is primary, and who has become primary meanwhile is not to wait for their end.
    /// </summary>
    internal void Rest(TimeSpan pause, CancellationToken stop)
    {
        long begun = Stopwatch.GetTimestamp();
        TimeSpan rest = s_lookEvery;
        while (toPrimary && pause - Stopwatch.GetElapsedTime(begun) > rest)
        {
            if (stop.WaitHandle.WaitOne(rest)) return;
            long look = Stopwatch.GetTimestamp();
            if (NamesAnother()) return;
            TimeSpan after = Stopwatch.GetElapsedTime(look) * RestShare;
            if (after > rest) rest = after;
        }
        TimeSpan left = pause - Stopwatch.GetElapsedTime(begun);
        if (left > TimeSpan.Zero) stop.WaitHandle.WaitOne(left);
    }

    private bool NamesAnother()
    {
        try
        {
            return Find() is { } now && now != _dialled;
        }
        catch (Exception e) when (IsTrouble(e))
        {
            return false; // the next dial tells of it
        }
    }

    /// <summary>Says whether an exception means that the instance is out of reach for the moment; then it is worth trying again.</summary>
    internal static bool IsTrouble(Exception e) =>
        e is LinkUnreachableException or LinkAddressException or ProtocolViolation or IOException or UnauthorizedAccessException
            or CatalogException or LinkCertificateException or OperationCanceledException;

    /// <summary>Chooses the primary, or any one of the secondaries, so that many clients share them.</summary>
    private ReplicaEntry? Choose(CatalogEntry entry)
    {
        if (toPrimary) return entry.Primary;
        ReplicaEntry[] others = [.. entry.Replicas.Where(static each => each.Role == "secondary")];
        return others.Length == 0 ? null : others[Random.Shared.Next(others.Length)];
    }

    private LinkSettings Settings() => new(catalog.Secret, TimeProvider.System, RandomNumberGenerator.Fill)
    {
        Insecure = options.Insecure,
        Certificates = options.TlsCertificate is null ? null : ReadCertificates,
    };

    /// <summary>Reads the certificates anew for each connection, so that renewed ones are in force with the next.</summary>
    private LinkCertificates ReadCertificates() =>
        LinkCertificates.Read(File.ReadAllText(options.TlsCertificate!), File.ReadAllText(options.TlsKey!),
            File.ReadAllText(options.TlsAuthorities!), TimeProvider.System);
}

/// <summary>
/// Holds what a client knows of the instance that it calls: which one accepted it first, which replica answers at the moment, and why it
/// could not be reached the last time. The pump's and the connection's threads write it; any thread may read it.
/// </summary>
internal sealed class KnownInstance(InstanceId id, ClientOptions options)
{
    /// <summary>Whoever waits for the first connection waits for this; another one follows on one that failed.</summary>
    private volatile TaskCompletionSource _accepted = NewWait();
    private volatile string? _replica;
    private volatile string _trouble = "it was not looked for yet";

    /// <summary>The UUID of the first instance that accepted us; another instance of the same name is refused.</summary>
    private Guid _uuid;

    internal InstanceId Id => id;

    /// <summary>The name of the replica that answers at the moment; null while none does.</summary>
    internal string? Replica => _replica;

    /// <summary>The reason for which the instance could not be reached the last time.</summary>
    internal string Trouble
    {
        set => _trouble = value;
    }

    /// <summary>Completes when the instance has accepted us.</summary>
    /// <exception cref="TimeoutException">It has not within <see cref="ClientOptions.ConnectWithin"/>; the message says why.</exception>
    /// <exception cref="ClientRefusedException">The instance does not accept this client.</exception>
    internal async Task ConnectAsync(CancellationToken cancellationToken)
    {
        try
        {
            await _accepted.Task.WaitAsync(options.ConnectWithin, cancellationToken).ConfigureAwait(false);
        }
        catch (TimeoutException)
        {
            throw new TimeoutException($"{id} could not be reached within {options.ConnectWithin.TotalSeconds:0.#} s: {_trouble}.");
        }
    }

    /// <summary>Makes the first frame of a connection to the instance (protocol P10.2).</summary>
    internal ClientHello ToHello(bool queriesOnly) => new(1, 1, id, _uuid, options.Name, options.MessageBytesMax, queriesOnly);

    internal void Accepted(ClientWelcome welcome)
    {
        _uuid = welcome.Uuid;
        _replica = welcome.Replica;
        _accepted.TrySetResult();
    }

    /// <summary>
    /// Fails whoever waits for the first connection: the instance does not accept this client, or the client is closed. Whoever comes later
    /// waits anew.
    /// </summary>
    internal void Fail(Exception why)
    {
        TaskCompletionSource waiting = _accepted;
        if (!waiting.TrySetException(why)) return;
        _ = waiting.Task.Exception; // nobody needs to wait
        _accepted = NewWait();
    }

    internal void Disconnected() => _replica = null;

    private static TaskCompletionSource NewWait() => new(TaskCreationOptions.RunContinuationsAsynchronously);
}

/// <summary>Reads the catalog's directory for clients, which never make or change anything in it. Any thread may call it.</summary>
internal sealed class ReadOnlyCatalogFiles(string directory) : ICatalogFiles
{
    private const UnixFileMode OthersMay = UnixFileMode.GroupRead | UnixFileMode.GroupWrite | UnixFileMode.OtherRead
        | UnixFileMode.OtherWrite;

    public IReadOnlyList<string> List() =>
        Directory.Exists(directory) ? [.. Directory.EnumerateFiles(directory).Select(static path => Path.GetFileName(path))] : [];

    public byte[]? Read(string name, int bytesMax)
    {
        try
        {
            using var file = new FileStream(PathOf(name), FileMode.Open, FileAccess.Read, FileShare.ReadWrite | FileShare.Delete);
            byte[] bytes = new byte[Math.Min(file.Length, bytesMax)];
            return bytes[..file.ReadAtLeast(bytes, bytes.Length, throwOnEndOfStream: false)];
        }
        catch (Exception e) when (e is FileNotFoundException or DirectoryNotFoundException)
        {
            return null;
        }
    }

    public string? WhatIsOpen(string name)
    {
        if (OperatingSystem.IsWindows() || !File.Exists(PathOf(name))) return null;
        UnixFileMode mode = File.GetUnixFileMode(PathOf(name)), around = File.GetUnixFileMode(directory);
        if ((mode & OthersMay) != 0) return $"its mode is {Octal(mode)}: others than its owner may read or change it";
        return (around & OthersMay & ~(UnixFileMode.GroupRead | UnixFileMode.OtherRead)) == 0 ? null
            : $"the mode of its directory is {Octal(around)}: others than its owner may put another file in its place";
    }

    private static string Octal(UnixFileMode mode) => $"0{Convert.ToString((int)mode & 0x1FF, 8)}";

    public string PathOf(string name) => Path.Combine(directory, name);

    public void Replace(string name, ReadOnlySpan<byte> content) => throw OnlyLooking();

    public bool CreateNew(string name, ReadOnlySpan<byte> content) =>
        throw new IOException(
            $"there is no catalog in {directory}: it has no {name}. Give the directory that the coordinators use (--catalog)");

    public void Delete(string name) => throw OnlyLooking();

    private static InvalidOperationException OnlyLooking() => new("a caller outside changes nothing in the catalog");
}
