using Ambrosia.Client.Connections;
using Ambrosia.Client.Queries;
using Ambrosia.Client.Requests;
using Ambrosia.Protocol;
using CRA.Catalog;

namespace Ambrosia.Client;

/// <summary>
/// Calls one immortal from any .NET process outside. It finds the instance by the catalog, follows it when another replica takes over, and
/// connects again by itself. Any thread may use it; calls made at the same time share the connection.
/// </summary>
public sealed class ImmortalClient : IAsyncDisposable, IDisposable
{
    private readonly InFlightRequests _requests;
    private readonly ClientPump _pump, _secondary;
    private readonly QueryRouter _router;
    private readonly QueryRetrier _queries;
    private readonly RequestLimiter _limiter;
    private ulong _seen;

    /// <summary>The instance has accepted this client once.</summary>
    private volatile bool _hasConnected;
    private volatile bool _isDisposed;

    private ImmortalClient(InstanceId instance, ClientOptions options, ICatalog catalog)
    {
        Instance = instance.Name;
        _limiter = new RequestLimiter(options.RequestsMax, options.RequestBytesMax);
        _requests = new InFlightRequests(request => _limiter.Leave(request.Message.Length));
        _router = new QueryRouter(options.QueriesFrom, Saw, wantSecondary: () => _secondary!.Want());
        _queries = new QueryRetrier(_router, options.QueryWithin, TimeProvider.System);
        _pump = new ClientPump(catalog, instance, options, _requests, _router, Saw);
        _secondary = new ClientPump(catalog, instance, options, null, _router, Saw);
    }

    /// <summary>The name of the instance that the client calls.</summary>
    public string Instance { get; }

    /// <summary>The name of the replica that answers at the moment; null while the client looks for one.</summary>
    public string? Replica => _pump.Replica;

    /// <summary>
    /// The position up to which this client has seen the log. Everything that it was told is logged, and everything that its answers rest
    /// on, stands before it. Its queries see at least this state. Another process to which you give the position
    /// (<see cref="ClientProxy{TContract}.AtLeast"/>) sees it too.
    /// </summary>
    public Lsn Seen => new(Volatile.Read(ref _seen));

    /// <summary>Connects to the instance.</summary>
    /// <param name="catalog">Where the catalog is: a directory, etcd://host:port/prefix, or azure-tables://account/table.</param>
    /// <param name="instance">Name of the instance.</param>
    /// <exception cref="ArgumentException">The text is no instance name or no catalog that this program can open, or an option is out of
    /// its range.</exception>
    /// <exception cref="TimeoutException">The instance was not found, or not reached, within <see cref="ClientOptions.ConnectWithin"/>; the
    /// message says why.</exception>
    /// <exception cref="ClientRefusedException">The instance does not accept this client.</exception>
    public static async Task<ImmortalClient> ConnectAsync(
        string catalog, string instance, ClientOptions? options = null, CancellationToken cancellationToken = default)
    {
        ImmortalClient client = Create(catalog, instance, options);
        try
        {
            await client.AwaitConnection(cancellationToken).ConfigureAwait(false);
            return client;
        }
        catch
        {
            await client.DisposeAsync().ConfigureAwait(false);
            throw;
        }
    }

    /// <summary>
    /// Makes a client that connects when it is called first. That call waits until the instance is found, for
    /// <see cref="ClientOptions.ConnectWithin"/> at most, and fails as <see cref="ConnectAsync"/> does; the next call tries it again.
    /// </summary>
    /// <param name="catalog">Where the catalog is, as for <see cref="ConnectAsync"/>. A directory need not be there yet.</param>
    /// <param name="instance">Name of the instance.</param>
    /// <exception cref="ArgumentException">The text is no instance name or no catalog that this program can open, or an option is out of
    /// its range.</exception>
    public static ImmortalClient Create(string catalog, string instance, ClientOptions? options = null)
    {
        ArgumentException.ThrowIfNullOrEmpty(catalog);
        if (!Names.IsValid(instance))
            throw new ArgumentException($"'{instance}' is not an instance name: 1 to {Names.CharsMax} letters, digits, '_' and '-'.",
                nameof(instance));
        options ??= new ClientOptions();
        options.Check();
        return new ImmortalClient(new InstanceId(instance), options, Open(catalog));
    }

    private static ICatalog Open(string catalog)
    {
        try
        {
            return InstanceDialler.OpenCatalog(CatalogPlace.Parse(catalog));
        }
        catch (CatalogException e)
        {
            throw new ArgumentException(e.Message, nameof(catalog), e);
        }
    }

    /// <summary>Completes at once once the instance has accepted this client; later it connects again by itself.</summary>
    private Task AwaitConnection(CancellationToken cancellationToken)
    {
        if (_hasConnected) return Task.CompletedTask;
        ObjectDisposedException.ThrowIf(_isDisposed, this);
        _pump.Want();
        return ConnectFirst(cancellationToken);
    }

    private async Task ConnectFirst(CancellationToken cancellationToken)
    {
        await _pump.ConnectAsync(cancellationToken).ConfigureAwait(false);
        _hasConnected = true;
    }

    /// <summary>
    /// Returns a proxy of the instance for its contract <typeparamref name="TContract"/>. For each method Foo of the contract it has
    /// FooAsync, which returns the answer, and for impulse handlers FooLogged, which completes when the impulse is logged. These methods
    /// are generated for every assembly that names the proxy's type, or makes this call.
    /// </summary>
    public ClientProxy<TContract> GetProxy<TContract>()
        where TContract : class => new(this, default);

    /// <summary>
    /// Asks any replica that can answer from a state that holds what this client has seen and everything below <paramref name="position"/>.
    /// </summary>
    /// <exception cref="TimeoutException">No replica could within <see cref="ClientOptions.QueryWithin"/>.</exception>
    internal async Task<QueryOutcome> QueryAsync(ClientMessage message, Lsn position, CancellationToken cancellationToken)
    {
        byte[] arguments = message.Arguments;
        await AwaitConnection(cancellationToken).ConfigureAwait(false);
        Lsn atLeast = Lsn.Max(Seen, position);
        await _limiter.EnterAsync(arguments.Length, cancellationToken).ConfigureAwait(false);
        try
        {
            return await _queries.AskAsync(message.Method, arguments, atLeast, cancellationToken).ConfigureAwait(false);
        }
        catch (RequestFailedException e) when (e.IsNoMethod)
        {
            throw e.Naming(message.Name);
        }
        finally
        {
            _limiter.Leave(arguments.Length);
        }
    }

    private void Saw(Lsn position)
    {
        ulong known = Volatile.Read(ref _seen);
        while (known < position.Value && Interlocked.CompareExchange(ref _seen, position.Value, known) is var found && found != known)
            known = found;
    }

    /// <summary>
    /// Waits until the limits of what may be in flight allow the request, sends it, and waits for the answer, or for an impulse until it is
    /// logged.
    /// </summary>
    internal async Task<byte[]> SendAsync(ClientRequest request, CancellationToken cancellationToken)
    {
        await AwaitConnection(cancellationToken).ConfigureAwait(false);
        await _limiter.EnterAsync(request.Message.Length, cancellationToken).ConfigureAwait(false);
        if (!_requests.TryAdd(request)) _limiter.Leave(request.Message.Length);
        _pump.Nudge();
        using CancellationTokenRegistration registration = cancellationToken.UnsafeRegister(static (state, token) =>
        {
            (InFlightRequests requests, ClientRequest request) = ((InFlightRequests, ClientRequest))state!;
            requests.Abandon(request, token);
        }, (_requests, request));
        return await request.Completion.Task.ConfigureAwait(false);
    }

    /// <summary>Ends the connection. Everything in flight fails with <see cref="OutcomeUnknownException"/>.</summary>
    public ValueTask DisposeAsync()
    {
        Dispose();
        return ValueTask.CompletedTask;
    }

    /// <inheritdoc cref="DisposeAsync"/>
    public void Dispose()
    {
        var why = new ObjectDisposedException(nameof(ImmortalClient));
        _isDisposed = true;
        _pump.Dispose();
        _secondary.Dispose();
        _requests.End(why);
        _router.End(why);
    }
}
