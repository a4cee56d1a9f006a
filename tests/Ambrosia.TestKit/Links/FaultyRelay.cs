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
    private readonly Socket listener = new(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
    private readonly List<RelayedConnection> open = [];
    private readonly int seed;
    private long passed, fromTarget;
    private readonly ManualResetEventSlim admits = new(true);
    private int connections, strikes, waiting;
    private volatile LinkFaults faults;
    private volatile IPEndPoint? target;
    private volatile bool stopped;

    public FaultyRelay(int seed, LinkFaults faults)
    {
        this.seed = seed;
        this.faults = faults;
        listener.Bind(new IPEndPoint(IPAddress.Loopback, 0));
        listener.Listen();
        new Thread(Accept) { IsBackground = true, Name = "relay" }.Start();
    }

    /// <summary>What is dialled instead of the target.</summary>
    public IPEndPoint Address => (IPEndPoint)listener.LocalEndPoint!;

    /// <summary>Where connections go from now on; while it is null they are closed at once.</summary>
    public IPEndPoint? Target { get => target; set => target = value; }

    /// <summary>In force from the next piece on.</summary>
    public LinkFaults Faults { get => faults; set => faults = value; }

    /// <summary>Connections that reached the target.</summary>
    public int Connections => Volatile.Read(ref connections);

    /// <summary>Callers that are held.</summary>
    public int Waiting => Volatile.Read(ref waiting);

    /// <summary>Cuts, stalls and half-opened connections so far.</summary>
    public int Strikes => Volatile.Read(ref strikes);

    /// <summary>Bytes that came from the target, passed on or not: what it has put on the wire.</summary>
    public long FromTarget => Interlocked.Read(ref fromTarget);

    /// <summary>Bytes passed on, both ways.</summary>
    public long Passed => Interlocked.Read(ref passed);

    /// <summary>From now on callers wait: connected, and not passed on until <see cref="Release"/>.</summary>
    public void Hold() => admits.Reset();

    public void Release() => admits.Set();

    /// <summary>Ends every connection with a reset.</summary>
    public void CutAll() => Each(static connection => connection.Cut(withReset: true));

    /// <summary>From now on nothing passes any connection that is open, and nobody is told.</summary>
    public void HalfOpenAll() => Each(static connection => connection.HalfOpen());

    public void Dispose()
    {
        stopped = true;
        listener.Dispose();
        admits.Set();
        Each(static connection => connection.Cut(withReset: true));
    }

    private void Each(Action<RelayedConnection> act)
    {
        RelayedConnection[] all;
        lock (open) all = [.. open];
        foreach (RelayedConnection connection in all) act(connection);
    }

    private void Accept()
    {
        while (!stopped)
        {
            try
            {
                Socket caller = listener.Accept();
                Interlocked.Increment(ref waiting);
                admits.Wait();
                Interlocked.Decrement(ref waiting);
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
            callee.Connect(target ?? throw new SocketException((int)SocketError.ConnectionRefused));
        }
        catch (SocketException)
        {
            caller.Dispose();
            callee.Dispose();
            return;
        }
        int number = Interlocked.Increment(ref connections);
        var connection = new RelayedConnection(caller, callee, this, HashCode.Combine(seed, number));
        lock (open) open.Add(connection);
        if (stopped) connection.Cut(withReset: true);
        connection.Start();
    }

    internal void CountFromTarget(int bytes) => Interlocked.Add(ref fromTarget, bytes);

    internal void Count(int bytes) => Interlocked.Add(ref passed, bytes);

    /// <summary>True: one more fault may strike, and is counted.</summary>
    internal bool MayStrike()
    {
        if (Interlocked.Increment(ref strikes) <= faults.StrikesMax) return true;
        Interlocked.Decrement(ref strikes);
        return false;
    }

    internal void Ended(RelayedConnection connection)
    {
        lock (open) open.Remove(connection);
    }
}
