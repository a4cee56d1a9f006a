using Ambrosia.Client.Queries;
using Ambrosia.Client.Requests;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using CRA.Catalog;
using CRA.Links;

namespace Ambrosia.Client.Connections;

/// <summary>
/// Keeps a client connected. Its one thread looks the instance up, dials, and waits until the connection is over, and then begins again.
/// The pump owns the present connection; any thread may call it.
/// </summary>
internal sealed class ClientPump : IConnectionOwner, IDisposable
{
    private readonly KnownInstance _instance;
    private readonly InstanceDialler _dialler;
    private readonly InFlightRequests? _requests;
    private readonly QueryRouter _router;
    private readonly Action<Lsn> _saw;
    private readonly Backoff _backoff = new(Random.Shared.NextDouble);
    private readonly CancellationTokenSource _stop = new();
    private readonly ManualResetEventSlim _over = new(false);
    private readonly AutoResetEvent _wanted = new(false);
    private int _started;
    private volatile LinkConnection? _connection;

    /// <param name="requests">Requests for the primary; null makes this the connection to a secondary, which is for queries alone and is
    /// made when it is wanted.</param>
    internal ClientPump(
        ICatalog catalog, InstanceId instance, ClientOptions options, InFlightRequests? requests, QueryRouter router, Action<Lsn> saw)
    {
        _router = router;
        _saw = saw;
        _requests = requests;
        _instance = new KnownInstance(instance, options);
        _dialler = new InstanceDialler(catalog, instance, options, toPrimary: requests is not null);
    }

    internal string? Replica => _instance.Replica;

    /// <summary>Completes when the instance has accepted us.</summary>
    internal Task ConnectAsync(CancellationToken cancellationToken) => _instance.ConnectAsync(cancellationToken);

    /// <summary>Sends what is queued, on the calling thread as far as possible.</summary>
    internal void Nudge()
    {
        if (_instance.Replica is not null) _connection?.Nudge();
    }

    /// <summary>Asks for a connection. The pump's thread starts with the first call.</summary>
    internal void Want()
    {
        _wanted.Set();
        if (Interlocked.Exchange(ref _started, 1) == 0) Start();
    }

    private void Start() => new Thread(Loop) { Name = $"ambrosia client {_instance.Id}", IsBackground = true }.Start();

    private void Loop()
    {
        while (!_stop.IsCancellationRequested)
        {
            if (_requests is null && !_router.NeedsSecondary)
            {
                WaitHandle.WaitAny([_wanted, _stop.Token.WaitHandle]);
                continue;
            }
            _over.Reset();
            if (TryConnect()) _over.Wait();
            _dialler.Rest(_backoff.Next(), _stop.Token);
        }
    }

    private bool TryConnect()
    {
        try
        {
            LinkConnection? dialled = _dialler.TryDial(_stop.Token);
            if (dialled is null) _instance.Trouble = "it is not in the catalog";
            else RunOn(dialled);
            return dialled is not null;
        }
        catch (Exception e) when (InstanceDialler.IsTrouble(e))
        {
            _instance.Trouble = e.Message;
            return false;
        }
    }

    private void RunOn(LinkConnection dialled)
    {
        var connection = new ClientConnection(_requests, _router, _instance.ToHello(queriesOnly: _requests is null), dialled.Seed)
        {
            Owner = this,
            Wake = dialled.Wake,
        };
        _connection = dialled;
        if (_stop.IsCancellationRequested) dialled.Close("the client was closed");
        dialled.Run(connection, _instance.Id.ToString());
    }

    void IConnectionOwner.Accepted(ClientWelcome welcome)
    {
        _instance.Accepted(welcome);
        _backoff.Reset();
    }

    void IConnectionOwner.Saw(Lsn position) => _saw(position);

    void IConnectionOwner.ToldGoodbye(Goodbye goodbye)
    {
        _instance.Trouble = goodbye.Why;
        if (goodbye.Code != GoodbyeCode.Refused) return;
        var refused = new ClientRefusedException(goodbye.Why);
        _instance.Fail(refused);
        _requests?.Refused(refused);
    }

    void IConnectionOwner.Over(string why)
    {
        _instance.Disconnected();
        _connection = null;
        _over.Set();
    }

    public void Dispose()
    {
        _stop.Cancel();
        _instance.Fail(new ObjectDisposedException("ImmortalClient"));
        _connection?.Close("the client was closed");
        _over.Set();
        _wanted.Set();
    }
}
