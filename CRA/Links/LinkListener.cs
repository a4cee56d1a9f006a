using System.Net;
using System.Net.Sockets;
using Ambrosia.Protocol;
using CRA.Authentication;
using CRA.Streams;
using Microsoft.Extensions.Logging;

namespace CRA.Links;

/// <summary>
/// Accepts connections, authenticates them and hands them on. One thread serves all that are not authenticated yet, by polling, so that
/// strangers cost no threads and little memory: each has at most 64 KiB of state (a hundred bytes where there is no TLS),
/// <see cref="LinkSettings.AuthenticationMax"/> and one log line. Nothing that a connection does ends the loop.
/// </summary>
public sealed class LinkListener : IDisposable
{
    private const int Backlog = 512;

    /// <summary>On Linux a stop wakes the poll by itself; elsewhere the loop sees it after this time.</summary>
    private static readonly TimeSpan s_pollMax = TimeSpan.FromSeconds(1);

    private readonly LinkSettings _settings;
    private readonly Action<LinkConnection> _accepted;
    private readonly ILogger _logger;
    private readonly Socket _listener;

    /// <summary>The thread that accepts; null before the start. The starting thread writes it.</summary>
    private Thread? _thread;

    /// <summary>The connections that are not authenticated yet, oldest first. The accept thread uses them.</summary>
    private readonly List<UnauthenticatedConnection> _unauthenticated = [];
    private readonly List<Socket> _readable = [];

    /// <summary>The accept thread uses it.</summary>
    private readonly LogRateLimiter _lines;

    /// <summary>While the system gives no connection, polling would return at once for ever. The accept thread uses it.</summary>
    private readonly AcceptBackoff _trouble = new();

    /// <summary>The timestamp before which nothing is accepted. The accept thread uses it.</summary>
    private long _acceptFrom;

    /// <summary>The number of authenticated connections that are open.</summary>
    private int _connections;
    private volatile bool _stopped;

    /// <param name="address">Where to listen, for instance "127.0.0.1:0"; port 0 takes a free one.</param>
    /// <param name="advertised">The address that callers dial; null: the one that is listened on. A connection that was made by another
    /// address is not authenticated.</param>
    /// <param name="accepted">Receives each authenticated connection on the accept thread, where it only starts the connection's
    /// pumps.</param>
    /// <param name="logger">Receives an event for each connection that failed, within the limits of a <see cref="LogRateLimiter"/>.</param>
    /// <exception cref="LinkAddressException">The address is malformed, not allowed, or in use.</exception>
    public LinkListener(
        string address, string? advertised, LinkSettings settings, Action<LinkConnection> accepted, ILogger logger)
    {
        ArgumentOutOfRangeException.ThrowIfNotEqual(settings.Secret.Length, LinkAuthentication.SecretBytes, nameof(settings));
        ArgumentOutOfRangeException.ThrowIfLessThan(settings.UnauthenticatedMax, 1, nameof(settings));
        _settings = settings;
        _accepted = accepted;
        _logger = logger;
        _listener = Bind(address, settings.MayLeaveTheMachine);
        BoundAddress = LinkAddress.TextOf((IPEndPoint)_listener.LocalEndPoint!);
        Address = advertised ?? BoundAddress;
        _acceptFrom = settings.Time.GetTimestamp();
        _lines = new LogRateLimiter(settings.Time.TimestampFrequency, _acceptFrom);
    }

    /// <summary>
    /// The address and port that the listener really has. The system queues dials from the construction on.
    /// </summary>
    public string BoundAddress { get; }

    /// <summary>The address that callers dial, which goes into the catalog.</summary>
    public string Address { get; }

    /// <summary>Starts to accept; it is called once. Where the system has no thread to give, it waits for one, and says so once.</summary>
    public void Start()
    {
        while (!_stopped)
        {
            _thread = Threads.TryStart($"link-accept {BoundAddress}", AcceptLoop, fault => _settings.Fell(fault, "link-accept"));
            if (_thread is not null) return;
            TimeSpan rest = _trouble.Failed(out bool isFirst);
            if (isFirst) _logger.AcceptFailed(BoundAddress, "the system gives out no thread for it");
            Thread.Sleep(rest);
        }
    }

    /// <summary>
    /// Stops accepting and closes what is not authenticated; the connections that were handed on live on. The callbacks must not call it.
    /// </summary>
    public void Dispose()
    {
        if (_stopped) return;
        _stopped = true;
        LinkSocket.Shutdown(_listener, SocketShutdown.Both);
        if (_thread is null) _listener.Dispose();
        else _thread.Join();
    }

    /// <summary>Verifies that a listener could listen there now, for those who ask before they make anything.</summary>
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
                if (_unauthenticated.Find(s => s.Socket == socket) is { } connection) Advance(connection); // unless dropped in this round
            while (_unauthenticated.Count > 0 && Left(_unauthenticated[0], now) <= TimeSpan.Zero)
                Drop(_unauthenticated[0], $"not authenticated within {_settings.AuthenticationMax.TotalSeconds} s (P7.3)");
        }
        foreach (UnauthenticatedConnection connection in _unauthenticated) connection.Dispose();
        _listener.Dispose();
    }

    /// <summary>Leaves in <see cref="_readable"/> what can be read without waiting.</summary>
    private void Poll()
    {
        long now = _settings.Time.GetTimestamp();
        TimeSpan wait = _unauthenticated.Count > 0 ? Left(_unauthenticated[0], now) : s_pollMax;
        TimeSpan rest = _settings.Time.GetElapsedTime(now, _acceptFrom);
        if (rest > TimeSpan.Zero) wait = rest < wait ? rest : wait;
        wait = wait < s_pollMax ? wait : s_pollMax;
        _readable.Clear();
        if (rest <= TimeSpan.Zero) _readable.Add(_listener);
        foreach (UnauthenticatedConnection connection in _unauthenticated) _readable.Add(connection.Socket);
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
            var authentication = LinkAuthentication.Acceptor(_settings.Secret.Span, nonce, Address);
            TlsHandshake? tls = _settings.Certificates is { } certificates
                ? TlsHandshake.Accept(socket, authentication, certificates()) : null;
            _unauthenticated.Add(new UnauthenticatedConnection(socket, remote, now, authentication, tls));
        }
        catch (Exception e)
        {
            socket.Dispose(); // reset before it was accepted, or nothing can be shown to it now; the next one may fare better
            if (_lines.Admit(e.Message, now, out long leftOut) is { } why) _logger.StrangerGone(why, leftOut);
        }
    }

    /// <summary>
    /// Drops the oldest connection of the same address where that address has its share, so that one machine does not push out the others;
    /// otherwise the oldest of all where there are too many.
    /// </summary>
    private void MakeRoomFor(IPAddress address)
    {
        if (_unauthenticated.Count(s => s.Remote.Address.Equals(address)) >= _settings.UnauthenticatedPerAddressMax)
            Drop(_unauthenticated.First(s => s.Remote.Address.Equals(address)),
                $"one of more than {_settings.UnauthenticatedPerAddressMax} of its address that were not authenticated (P7.3)");
        else if (_unauthenticated.Count >= _settings.UnauthenticatedMax)
            Drop(_unauthenticated[0], $"one of more than {_settings.UnauthenticatedMax} that were not authenticated (P7.3)");
    }

    private Socket? TryAccept(long now)
    {
        Socket accepted;
        try
        {
            accepted = _listener.Accept();
        }
        catch (SocketException e)
        {
            if (!_stopped) NoteFailure(e, now);
            return null;
        }
        if (_trouble.Succeeded(out long failures)) _logger.AcceptResumed(BoundAddress, failures);
        return accepted;
    }

    /// <summary>A connection that was gone already is nobody's trouble; otherwise the system has none to give, and is left alone.</summary>
    private void NoteFailure(SocketException e, long now)
    {
        if (e.SocketErrorCode is SocketError.ConnectionAborted or SocketError.ConnectionReset or SocketError.Interrupted)
        {
            if (_lines.Admit(e.Message, now, out long leftOut) is { } gone) _logger.StrangerGone(gone, leftOut);
            return;
        }
        TimeSpan rest = _trouble.Failed(out bool isFirst);
        _acceptFrom = now + (long)(rest.TotalSeconds * _settings.Time.TimestampFrequency);
        if (isFirst) _logger.AcceptFailed(BoundAddress, e.Message);
    }

    private void Advance(UnauthenticatedConnection connection)
    {
        try
        {
            if (!connection.Advance()) return;
        }
        catch (Exception e) // what comes from outside runs through libraries that promise no list of exceptions
        {
            Drop(connection, e.Message);
            return;
        }
        HandOn(connection);
    }

    private void HandOn(UnauthenticatedConnection connection)
    {
        if (Interlocked.Increment(ref _connections) > _settings.ConnectionsMax)
        {
            Interlocked.Decrement(ref _connections);
            Drop(connection, $"there are {_settings.ConnectionsMax} connections already");
            return;
        }
        _unauthenticated.Remove(connection);
        _accepted(connection.HandOn(_settings, released: () => Interlocked.Decrement(ref _connections)));
    }

    private void Drop(UnauthenticatedConnection connection, string why)
    {
        _unauthenticated.Remove(connection);
        connection.Dispose();
        if (_lines.Admit(why, _settings.Time.GetTimestamp(), out long leftOut) is { } admitted)
            _logger.StrangerClosed(connection.Remote.ToString(), admitted, leftOut);
    }

    private TimeSpan Left(UnauthenticatedConnection connection, long now) =>
        _settings.AuthenticationMax - _settings.Time.GetElapsedTime(connection.Begun, now);
}
