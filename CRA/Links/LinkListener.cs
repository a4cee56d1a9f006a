using System.Net;
using System.Net.Sockets;
using Ambrosia.Protocol;

namespace CRA;

/// <summary>
/// Accepts connections, authenticates them and hands them on. One thread serves all that are not authenticated yet, by polling, so that
/// strangers cost no threads and little memory: each has at most 64 KiB of state (a hundred bytes where there is no TLS),
/// <see cref="LinkSettings.AuthenticationMax"/> and one log line. Nothing that a connection does ends the loop.
/// </summary>
public sealed class LinkListener : IDisposable
{
    private const int Backlog = 512;

    // How long accepting rests after a failure (no descriptors left): polling would return at once for ever.
    private static readonly TimeSpan AcceptRest = TimeSpan.FromMilliseconds(100);

    // A stop wakes the poll by itself on Linux; elsewhere it is seen after this.
    private static readonly TimeSpan PollMax = TimeSpan.FromSeconds(1);

    private readonly LinkSettings _settings;
    private readonly Action<LinkConnection> _accepted;
    private readonly Action<string> _log;
    private readonly Socket _listener;
    private readonly Thread _thread;

    // Oldest first, at most UnauthenticatedMax. Used by the accept thread.
    private readonly List<Stranger> _strangers = [];
    private readonly List<Socket> _readable = [];

    // Used by the accept thread.
    private readonly LineBudget _lines;

    // Timestamp before which nothing is accepted. Used by the accept thread.
    private long _acceptFrom;

    // Authenticated connections that are open.
    private int _connections;
    private volatile bool _stopped;

    /// <param name="address">Where to listen, for instance "127.0.0.1:0"; port 0 takes a free one.</param>
    /// <param name="accepted">Gets each authenticated connection, on the accept thread: it only starts the connection's pumps.</param>
    /// <param name="log">Gets a line for each connection that came to nothing, within a <see cref="LineBudget"/>.</param>
    /// <exception cref="LinkAddressException">The address is malformed, not allowed, or in use.</exception>
    public LinkListener(string address, LinkSettings settings, Action<LinkConnection> accepted, Action<string> log)
    {
        ArgumentOutOfRangeException.ThrowIfNotEqual(settings.Secret.Length, LinkAuthentication.SecretBytes, nameof(settings));
        ArgumentOutOfRangeException.ThrowIfLessThan(settings.UnauthenticatedMax, 1, nameof(settings));
        _settings = settings;
        _accepted = accepted;
        _log = log;
        _listener = Bind(address, settings.MayLeaveTheMachine);
        BoundAddress = LinkAddress.TextOf((IPEndPoint)_listener.LocalEndPoint!);
        _acceptFrom = settings.Time.GetTimestamp();
        _lines = new LineBudget(settings.Time.TimestampFrequency, _acceptFrom);
        _thread = new Thread(AcceptLoop) { Name = $"link-accept {BoundAddress}", IsBackground = true };
    }

    /// <summary>Address and port in fact; what goes into the catalog. Dials are queued by the system from the construction on.</summary>
    public string BoundAddress { get; }

    /// <summary>Starts to accept; once.</summary>
    public void Start() => _thread.Start();

    /// <summary>
    /// Stops accepting and closes what is not authenticated; the connections handed on live on. Not called from the callbacks.
    /// </summary>
    public void Dispose()
    {
        if (_stopped) return;
        _stopped = true;
        LinkSocket.Shutdown(_listener, SocketShutdown.Both);
        if (_thread.ThreadState.HasFlag(ThreadState.Unstarted)) _listener.Dispose();
        else _thread.Join();
    }

    /// <summary>Whether somebody could listen there now: for those who ask before they make anything.</summary>
    /// <exception cref="LinkAddressException">The address is malformed, not allowed, or in use.</exception>
    public static void Check(string address, bool mayLeaveTheMachine) => Bind(address, mayLeaveTheMachine).Dispose();

    private static Socket Bind(string address, bool mayLeaveTheMachine)
    {
        IPEndPoint end = LinkAddress.ToListen(address, mayLeaveTheMachine);
        var socket = new Socket(end.AddressFamily, SocketType.Stream, ProtocolType.Tcp);
        try
        {
            socket.Bind(end);
            socket.Listen(Backlog);
            return socket;
        }
        catch (SocketException e)
        {
            socket.Dispose();
            throw new LinkAddressException(
                $"Cannot listen on '{address}': {e.Message}. Choose an address of this machine and a free port; port 0 takes any.", e);
        }
    }

    private void AcceptLoop()
    {
        while (!_stopped)
        {
            Poll();
            long now = _settings.Time.GetTimestamp();
            if (_readable.Remove(_listener) && !_stopped) Accept(now);
            foreach (Socket socket in _readable)
                if (_strangers.Find(s => s.Socket == socket) is { } stranger) Advance(stranger); // unless dropped in this round
            while (_strangers.Count > 0 && Left(_strangers[0], now) <= TimeSpan.Zero)
                Drop(_strangers[0], $"not authenticated within {_settings.AuthenticationMax.TotalSeconds} s (P7.3)");
        }
        foreach (Stranger stranger in _strangers) stranger.Dispose();
        _listener.Dispose();
    }

    // Leaves in _readable what can be read without waiting.
    private void Poll()
    {
        long now = _settings.Time.GetTimestamp();
        TimeSpan wait = _strangers.Count > 0 ? Left(_strangers[0], now) : PollMax;
        TimeSpan rest = _settings.Time.GetElapsedTime(now, _acceptFrom);
        if (rest > TimeSpan.Zero) wait = rest < wait ? rest : wait;
        wait = wait < PollMax ? wait : PollMax;
        _readable.Clear();
        if (rest <= TimeSpan.Zero) _readable.Add(_listener);
        foreach (Stranger stranger in _strangers) _readable.Add(stranger.Socket);
        if (_readable.Count == 0) Thread.Sleep(wait); // a poll of nothing is not allowed
        else Socket.Select(_readable, null, null, wait > TimeSpan.Zero ? wait : TimeSpan.Zero);
    }

    private void Accept(long now)
    {
        if (TryAccept(now) is not { } socket) return;
        try
        {
            LinkSocket.Prepare(socket);
            var remote = (IPEndPoint)socket.RemoteEndPoint!;
            MakeRoomFor(remote.Address);
            Span<byte> nonce = stackalloc byte[LinkAuthentication.NonceBytes];
            _settings.Random(nonce);
            var authentication = LinkAuthentication.Acceptor(_settings.Secret.Span, nonce);
            TlsHandshake? tls = _settings.Certificates is { } certificates
                ? TlsHandshake.Accept(socket, authentication, certificates()) : null;
            _strangers.Add(new Stranger(socket, remote, now, authentication, tls));
        }
        catch (SocketException e)
        {
            socket.Dispose(); // reset before it was accepted
            Say($"Link closed: {e.Message}");
        }
    }

    // The oldest of the same address goes first where that has its share, so that one machine does not push out the others.
    private void MakeRoomFor(IPAddress address)
    {
        if (_strangers.Count(s => s.Remote.Address.Equals(address)) >= _settings.UnauthenticatedPerAddressMax)
            Drop(_strangers.First(s => s.Remote.Address.Equals(address)),
                $"one of more than {_settings.UnauthenticatedPerAddressMax} of its address that were not authenticated (P7.3)");
        else if (_strangers.Count >= _settings.UnauthenticatedMax)
            Drop(_strangers[0], $"one of more than {_settings.UnauthenticatedMax} that were not authenticated (P7.3)");
    }

    private Socket? TryAccept(long now)
    {
        try
        {
            return _listener.Accept();
        }
        catch (SocketException e)
        {
            if (_stopped) return null;
            _acceptFrom = now + (long)(AcceptRest.TotalSeconds * _settings.Time.TimestampFrequency);
            Say($"Link listener {BoundAddress} could not accept a connection: {e.Message}");
            return null;
        }
    }

    private void Advance(Stranger stranger)
    {
        try
        {
            if (!stranger.Advance()) return;
        }
        catch (Exception e) when (e is ProtocolViolation or SocketException or IOException)
        {
            Drop(stranger, e.Message);
            return;
        }
        HandOn(stranger);
    }

    private void HandOn(Stranger stranger)
    {
        if (Interlocked.Increment(ref _connections) > _settings.ConnectionsMax)
        {
            Interlocked.Decrement(ref _connections);
            Drop(stranger, $"there are {_settings.ConnectionsMax} connections already");
            return;
        }
        _strangers.Remove(stranger);
        _accepted(stranger.HandOn(_settings, released: () => Interlocked.Decrement(ref _connections)));
    }

    private void Drop(Stranger stranger, string why)
    {
        _strangers.Remove(stranger);
        stranger.Dispose();
        Say($"Link from {stranger.Remote} closed: {why}");
    }

    private void Say(string line)
    {
        if (_lines.Admit(line, _settings.Time.GetTimestamp()) is { } admitted) _log(admitted);
    }

    private TimeSpan Left(Stranger stranger, long now) => _settings.AuthenticationMax - _settings.Time.GetElapsedTime(stranger.Begun, now);
}
