using System.Net;
using System.Net.Sockets;
using Ambrosia.Protocol.Locking;
using CRA.Streams;

namespace CRA.Links;

/// <summary>
/// An authenticated connection with its two pumps: an in thread that receives and feeds the traffic, and an out thread that sends what the
/// traffic gives, and heartbeats. Any thread may wake, nudge or close it. Once <see cref="Run"/> was called, the traffic's
/// <see cref="ILinkTraffic.Ended"/> is called exactly once, and nothing of the traffic after it. The socket is closed by whoever
/// stops last.
/// </summary>
public sealed class LinkConnection : IDisposable
{
    private const int NotStarted = -1;
    private const int NeverStarts = -2;

    private readonly LinkStream _stream;
    private readonly LinkHandshakeResult _handshake;
    private readonly LinkEnding _ending;
    private readonly InPump _in;
    private readonly OutPump _out;
    private readonly Action _released;
    private readonly Action<Exception, string> _fell;

    /// <summary>The traffic of the connection, which <see cref="Run"/> sets once.</summary>
    private ILinkTraffic? _traffic;

    /// <summary>The number of pumps that have not stopped, or one of the constants.</summary>
    private int _pumps = NotStarted;

    /// <param name="released">Callback for the moment when the socket is closed; it is called once.</param>
    internal LinkConnection(LinkStream stream, LinkHandshakeResult handshake, LinkSettings settings, Action released)
    {
        _stream = stream;
        _handshake = handshake;
        _ending = new LinkEnding(stream);
        _in = new InPump(stream, _ending, CloseAfterSending, settings, handshake.Begun);
        _out = new OutPump(stream, _ending, settings, settings.Time.GetTimestamp());
        _released = released;
        _fell = settings.Fell;
    }

    /// <summary>The seed of the frames' checksums (P2.2).</summary>
    public uint Seed => _handshake.Seed;

    /// <summary>True if this side dialled, false if it accepted.</summary>
    public bool IsDialler => _handshake.IsDialler;

    public IPEndPoint RemoteEndPoint => _handshake.Remote;

    /// <summary>The timestamp of the accept, or of the end of the dial. The other side has written no frame before it.</summary>
    public long Begun => _handshake.Begun;

    /// <summary>The instance names that the other side's certificate is for; null on a connection without certificates.</summary>
    public IReadOnlyList<string>? CertifiedNames => _handshake.CertifiedNames;

    /// <summary>
    /// Starts the pumps; it is called once. On a connection that is closed already it calls <see cref="ILinkTraffic.Ended"/> before it
    /// returns.
    /// </summary>
    /// <param name="peer">Name for the threads; null takes the remote address.</param>
    public void Run(ILinkTraffic traffic, string? peer = null)
    {
        ArgumentNullException.ThrowIfNull(traffic);
        if (Interlocked.CompareExchange(ref _traffic, traffic, null) is not null)
            throw new InvalidOperationException("The connection runs already.");
        if (Interlocked.CompareExchange(ref _pumps, 2, NotStarted) == NeverStarts)
        {
            traffic.Ended(_ending.Why);
            return;
        }
        peer ??= RemoteEndPoint.ToString();
        _out.Open(traffic);
        Start($"link-in {peer}", () => _in.Run(traffic));
        Start($"link-out {peer}", _out.Run);
    }

    private void Start(string name, Func<string> loop)
    {
        if (Threads.TryStart(name, () => Pump(loop), fault => _fell(fault, name)) is null)
            Stopped("the system gives out no thread for it");
    }

    /// <summary>
    /// Makes the out thread ask the traffic again, after something was queued. It is never lost, and cheap while that thread is busy.
    /// </summary>
    public void Wake() => _out.Wake();

    /// <summary>
    /// Sends on the calling thread what the socket takes without waiting, and otherwise does what <see cref="Wake"/> does. This saves a
    /// change of threads where latency counts. The caller must not hold a lock that <see cref="ILinkTraffic.TryTake"/> or
    /// <see cref="ILinkTraffic.Taken"/> takes.
    /// </summary>
    public void Nudge() => _out.Nudge();

    /// <summary>Ends the connection now and drops what is queued. Only the first reason counts. It does not wait for the pumps.</summary>
    public void Close(string why)
    {
        if (!_ending.Close(why)) return;
        _out.Wake();
        if (Interlocked.CompareExchange(ref _pumps, NeverStarts, NotStarted) == NotStarted) Release();
    }

    /// <summary>
    /// Ends the connection after what is queued (a Goodbye) has been sent. Nothing more is fed. The connection closes when the other side
    /// has closed too, normally within 1 s, and within 6 s if the other side neither reads nor sends.
    /// </summary>
    public void CloseAfterSending(string why)
    {
        if (_ending.Finish(why)) _out.Wake();
        if (Volatile.Read(ref _pumps) == NotStarted) Close(why);
    }

    /// <summary>Does what <see cref="Close"/> does.</summary>
    public void Dispose() => Close("closed by this side");

    /// <summary>
    /// Wraps both pumps: a broken connection becomes a reason. Behind any other exception the process ends, and what the traffic holds is
    /// left as it is.
    /// </summary>
    private void Pump(Func<string> loop)
    {
        string why;
        try
        {
            why = loop();
        }
        catch (SocketException e)
        {
            why = $"the connection broke: {e.Message}";
        }
        Stopped(why);
    }

    private void Stopped(string why)
    {
        Close(why);
        if (Interlocked.Decrement(ref _pumps) == 0) End();
    }

    private void End()
    {
        _out.Shut(); // first: an inline send may be inside the stream
        Release();
        _traffic!.Ended(_ending.Why);
    }

    private void Release()
    {
        _stream.Dispose();
        LockChecks.BeforeCallOut();
        _released();
    }
}

/// <summary>It holds what is known of a connection when the dial or accept and the authentication are over.</summary>
/// <param name="Remote">The address of the other side.</param>
/// <param name="IsDialler">True if this side dialled, false if it accepted.</param>
/// <param name="Begun">Timestamp of the accept, or of the end of the dial; the first frame is due 5 s after it (P7.3).</param>
/// <param name="Seed">The seed of the frames' checksums (P2.2).</param>
/// <param name="CertifiedNames">The instance names that the other side's certificate is for, or null without certificates.</param>
internal sealed record LinkHandshakeResult(
    IPEndPoint Remote, bool IsDialler, long Begun, uint Seed, IReadOnlyList<string>? CertifiedNames = null);
