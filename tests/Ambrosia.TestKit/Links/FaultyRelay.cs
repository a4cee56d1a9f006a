using System.Net;
using System.Net.Sockets;

namespace Ambrosia.TestKit;

/// <summary>
/// A relay on loopback that passes TCP connections on to a target and harms them as <see cref="LinkFaults"/> says, by a seed. Owns all
/// sockets and threads of the connections through it, two threads each; any thread may change faults, target, hold, or cut. Never touches
/// the bytes: what arrives is a prefix of what was sent.
/// </summary>
public sealed class FaultyRelay : IDisposable
{
    private readonly Socket _listener = new(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
    private readonly List<RelayedConnection> _open = [];
    private readonly int _seed;
    private long _passed, _fromTarget;
    private readonly ManualResetEventSlim _admits = new(true);
    private int _connections, _strikes, _waiting;
    private volatile LinkFaults _faults;
    private volatile IPEndPoint? _target;
    private volatile bool _stopped;

    public FaultyRelay(int seed, LinkFaults faults)
    {
        _seed = seed;
        _faults = faults;
        _listener.Bind(new IPEndPoint(IPAddress.Loopback, 0));
        _listener.Listen();
        new Thread(Accept) { IsBackground = true, Name = "relay" }.Start();
    }

    /// <summary>What is dialled instead of the target.</summary>
    public IPEndPoint Address => (IPEndPoint)_listener.LocalEndPoint!;

    /// <summary>Where connections go from now on; while it is null they are closed at once.</summary>
    public IPEndPoint? Target { get => _target; set => _target = value; }

    /// <summary>In force from the next piece on.</summary>
    public LinkFaults Faults { get => _faults; set => _faults = value; }

    /// <summary>Connections that reached the target.</summary>
    public int Connections => Volatile.Read(ref _connections);

    /// <summary>Callers that are held.</summary>
    public int Waiting => Volatile.Read(ref _waiting);

    /// <summary>Cuts, stalls and half-opened connections so far.</summary>
    public int Strikes => Volatile.Read(ref _strikes);

    /// <summary>Bytes that came from the target, passed on or not: what it has put on the wire.</summary>
    public long FromTarget => Interlocked.Read(ref _fromTarget);

    /// <summary>Bytes passed on, both ways.</summary>
    public long Passed => Interlocked.Read(ref _passed);

    /// <summary>From now on callers wait: connected, and not passed on until <see cref="Release"/>.</summary>
    public void Hold() => _admits.Reset();

    public void Release() => _admits.Set();

    /// <summary>Ends every connection with a reset.</summary>
    public void CutAll() => Each(static connection => connection.Cut(withReset: true));

    /// <summary>From now on nothing passes any connection that is open, and nobody is told.</summary>
    public void HalfOpenAll() => Each(static connection => connection.HalfOpen());

    public void Dispose()
    {
        _stopped = true;
        _listener.Dispose();
        _admits.Set();
        Each(static connection => connection.Cut(withReset: true));
    }

    private void Each(Action<RelayedConnection> act)
    {
        RelayedConnection[] all;
        lock (_open) all = [.. _open];
        foreach (RelayedConnection connection in all) act(connection);
    }

    private void Accept()
    {
        while (!_stopped)
        {
            try
            {
                Socket caller = _listener.Accept();
                Interlocked.Increment(ref _waiting);
                _admits.Wait();
                Interlocked.Decrement(ref _waiting);
                PassOn(caller);
            }
            catch (Exception e) when (e is SocketException or ObjectDisposedException)
            {
                // The listener is closed, or who called is gone already; the loop's condition tells which.
            }
        }
    }

    private void PassOn(Socket caller)
    {
        var callee = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp) { NoDelay = true };
        try
        {
            caller.NoDelay = true;
            callee.Connect(_target ?? throw new SocketException((int)SocketError.ConnectionRefused));
        }
        catch (SocketException)
        {
            caller.Dispose();
            callee.Dispose();
            return;
        }
        int number = Interlocked.Increment(ref _connections);
        var connection = new RelayedConnection(caller, callee, this, HashCode.Combine(_seed, number));
        lock (_open) _open.Add(connection);
        if (_stopped) connection.Cut(withReset: true);
        connection.Start();
    }

    internal void CountFromTarget(int bytes) => Interlocked.Add(ref _fromTarget, bytes);

    internal void Count(int bytes) => Interlocked.Add(ref _passed, bytes);

    /// <summary>True: one more fault may strike, and is counted.</summary>
    internal bool MayStrike()
    {
        if (Interlocked.Increment(ref _strikes) <= _faults.StrikesMax) return true;
        Interlocked.Decrement(ref _strikes);
        return false;
    }

    internal void Ended(RelayedConnection connection)
    {
        lock (_open) _open.Remove(connection);
    }
}
