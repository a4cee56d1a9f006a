using System.Security.Cryptography;
using Ambrosia.Protocol;
using CRA;

namespace Ambrosia.Client.Pumps;

/// <summary>
/// Keeps a client connected: one thread that looks the instance up, dials, and waits until the connection is over; then again. Owns the
/// present connection.
/// </summary>
internal sealed class ClientPump : IDisposable
{
    private readonly InstanceId instance;
    private readonly ClientOptions options;
    private readonly RequestBook? book;
    private readonly QueryDesk desk;
    private readonly Action<Lsn> saw;
    private readonly DirectoryCatalog catalog;
    private readonly Backoff backoff = new(Random.Shared.NextDouble);
    private readonly CancellationTokenSource stop = new();
    private readonly ManualResetEventSlim over = new(false);
    private readonly AutoResetEvent wanted = new(false);
    private readonly TaskCompletionSource first = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private int started;
    private volatile LinkConnection? connection;
    private volatile string? replica;

    /// <summary>Why the instance could not be reached the last time.</summary>
    private volatile string trouble = "it was not looked for yet";

    /// <summary>That of the first instance that took us: another one of the same name is refused.</summary>
    private Guid uuid;

    /// <param name="book">What the primary is sent; null: this is the connection to a secondary, for queries, made
    /// when it is wanted.</param>
    internal ClientPump(string directory, InstanceId instance, ClientOptions options, RequestBook? book, QueryDesk desk, Action<Lsn> saw)
    {
        this.desk = desk;
        this.saw = saw;
        this.instance = instance;
        this.options = options;
        this.book = book;
        catalog = new DirectoryCatalog(new CatalogView(directory), RandomNumberGenerator.Fill, static _ => { });
        if (book is not null) Start();
    }

    internal string? Replica => replica;

    /// <summary>Completes when the instance has taken us.</summary>
    internal async Task ConnectAsync(CancellationToken cancellationToken)
    {
        try
        {
            await first.Task.WaitAsync(options.ConnectWithin, cancellationToken).ConfigureAwait(false);
        }
        catch (TimeoutException)
        {
            throw new TimeoutException($"{instance} could not be reached within {options.ConnectWithin.TotalSeconds:0.#} s: {trouble}.");
        }
    }

    /// <summary>There is something to send.</summary>
    internal void Nudge()
    {
        if (replica is not null) connection?.Nudge();
    }

    /// <summary>A secondary may be of use.</summary>
    internal void Want()
    {
        wanted.Set();
        if (Interlocked.Exchange(ref started, 1) == 0) Start();
    }

    private void Start() => new Thread(Loop) { Name = $"ambrosia client {instance}", IsBackground = true }.Start();

    private void Loop()
    {
        while (!stop.IsCancellationRequested)
        {
            if (book is null && !desk.NeedsSecondary)
            {
                WaitHandle.WaitAny([wanted, stop.Token.WaitHandle]);
                continue;
            }
            over.Reset();
            if (TryConnect()) over.Wait();
            stop.Token.WaitHandle.WaitOne(backoff.Next());
        }
    }

    private bool TryConnect()
    {
        try
        {
            CatalogEntry? entry = catalog.Find(instance);
            ReplicaEntry? replica = entry is null ? null : Choose(entry);
            if (replica is null) trouble = "it is not in the catalog";
            else Converse(LinkDialler.Dial(replica.Address, Settings(), stop.Token, instance.Name));
            return replica is not null;
        }
        catch (Exception e)
            when (e is LinkUnreachableException or LinkAddressException or ProtocolViolation or IOException or UnauthorizedAccessException
                or CatalogException or LinkCertificateException or OperationCanceledException)
        {
            trouble = e.Message;
            return false;
        }
    }

    /// <summary>Of several secondaries any, so that many clients share them.</summary>
    private ReplicaEntry? Choose(CatalogEntry entry)
    {
        if (book is not null) return entry.Replicas.FirstOrDefault(each => each.Role == "primary" && each.Epoch == entry.Epoch);
        ReplicaEntry[] others = [.. entry.Replicas.Where(static each => each.Role == "secondary")];
        return others.Length == 0 ? null : others[Random.Shared.Next(others.Length)];
    }

    private LinkSettings Settings() => new(catalog.Secret, TimeProvider.System, RandomNumberGenerator.Fill)
    {
        Insecure = options.Insecure,
        Certificates = options.TlsCertificate is null ? null : ReadCertificates,
    };

    /// <summary>Anew for each connection, so that renewed ones are in force with the next.</summary>
    private LinkCertificates ReadCertificates() =>
        LinkCertificates.Read(File.ReadAllText(options.TlsCertificate!), File.ReadAllText(options.TlsKey!),
            File.ReadAllText(options.TlsAuthorities!), TimeProvider.System);

    private void Converse(LinkConnection dialled)
    {
        var hello = new ClientHello(1, 1, instance, uuid, options.Name, options.MessageBytesMax, QueriesOnly: book is null);
        var conversation = new ClientConversation(book, desk, hello, dialled.Seed)
        {
            Saw = saw,
            Wake = dialled.Wake,
            Welcomed = Welcomed,
            ToldGoodbye = Told,
            Over = Over,
        };
        connection = dialled;
        if (stop.IsCancellationRequested) dialled.Close("the client was closed");
        dialled.Run(conversation, instance.ToString());
    }

    private void Welcomed(ClientWelcome welcome)
    {
        uuid = welcome.Uuid;
        replica = welcome.Replica;
        backoff.Reset();
        first.TrySetResult();
    }

    private void Told(Goodbye goodbye)
    {
        trouble = goodbye.Why;
        if (goodbye.Code != GoodbyeCode.Refused) return;
        var refused = new ClientRefusedException(goodbye.Why);
        first.TrySetException(refused);
        book?.Refused(refused);
    }

    private void Over(string why)
    {
        replica = null;
        connection = null;
        over.Set();
    }

    public void Dispose()
    {
        stop.Cancel();
        connection?.Close("the client was closed");
        over.Set();
        wanted.Set();
    }
}
