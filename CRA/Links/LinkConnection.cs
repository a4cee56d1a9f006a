using System.Net;
using System.Net.Sockets;

namespace CRA;

/// <summary>
/// An authenticated connection and its two pumps: an in thread that receives and feeds the traffic, an out thread that sends what the
/// traffic gives, and heartbeats. Any thread may wake, nudge or close it. Once <see cref="Run"/> was called, the traffic's
/// <see cref="ILinkTraffic.Ended"/> is called exactly once, and nothing of the traffic after it. The socket is closed by whoever
/// stops last.
/// </summary>
public sealed class LinkConnection : IDisposable
{
    private const int NotStarted = -1;
    private const int NeverStarts = -2;

    private readonly LinkStream _stream;
    private readonly LinkEnding _ending;
    private readonly InPump _in;
    private readonly OutPump _out;
    private readonly Action _released;

    // Set once, by Run.
    private ILinkTraffic? _traffic;

    // Pumps that have not stopped, or one of the constants.
    private int _pumps = NotStarted;

    /// <param name="begun">Timestamp of the accept or dial: the first frame is due 5 s after it (P7.3).</param>
    /// <param name="released">Called once, when the socket is closed.</param>
    internal LinkConnection(
        LinkStream stream, IPEndPoint remote, uint seed, bool isDialler, LinkSettings settings, long begun, Action released)
    {
        _stream = stream;
        _ending = new LinkEnding(stream);
        _in = new InPump(stream, _ending, CloseAfterSending, settings, begun);
        _out = new OutPump(stream, _ending, settings, settings.Time.GetTimestamp());
        _released = released;
        Seed = seed;
        Begun = begun;
        IsDialler = isDialler;
        RemoteEndPoint = remote;
    }

    /// <summary>Seed of the frames' checksums (P2.2).</summary>
    public uint Seed { get; }

    /// <summary>This side dialled.</summary>
    public bool IsDialler { get; }

    public IPEndPoint RemoteEndPoint { get; }

    /// <summary>Timestamp of the accept, or of the end of the dial: the other side has written no frame before it.</summary>
    public long Begun { get; }

    /// <summary>The instance names that the other side's certificate is for; null on a connection without certificates.</summary>
    public IReadOnlyList<string>? CertifiedNames { get; internal init; }

    /// <summary>
    /// Starts the pumps; once. On a connection that is closed already it calls <see cref="ILinkTraffic.Ended"/> before it returns.
    /// </summary>
    /// <param name="peer">Names the threads; the remote address when nothing better is known yet.</param>
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
        new Thread(() => Pump(() => _in.Run(traffic))) { Name = $"link-in {peer}", IsBackground = true }.Start();
        new Thread(() => Pump(_out.Run)) { Name = $"link-out {peer}", IsBackground = true }.Start();
    }

    /// <summary>
    /// Makes the out thread ask the traffic again; called after something was queued. Never lost, and cheap while that thread is busy.
    /// </summary>
    public void Wake() => _out.Wake();

    /// <summary>
    /// Like <see cref="Wake"/>, but sends on the calling thread what the socket takes without waiting, which saves the latency path a
    /// change of threads. Not to be called with a lock held that <see cref="ILinkTraffic.TryTake"/> or
    /// <see cref="ILinkTraffic.Taken"/> takes.
    /// </summary>
    public void Nudge() => _out.Nudge();

    /// <summary>Ends the connection now; what is queued is dropped. Only the first reason counts. Does not wait for the pumps.</summary>
    public void Close(string why)
    {
        if (!_ending.Close(why)) return;
        _out.Wake();
        if (Interlocked.CompareExchange(ref _pumps, NeverStarts, NotStarted) == NotStarted) Release();
    }

    /// <summary>
    /// Ends the connection after what is queued has been sent (a Goodbye). Nothing more is fed. Closes when the other side has closed
    /// too, normally within 1 s; within 6 s from an other side that neither reads nor sends.
    /// </summary>
    public void CloseAfterSending(string why)
    {
        if (_ending.Finish(why)) _out.Wake();
        if (Volatile.Read(ref _pumps) == NotStarted) Close(why);
    }

    /// <summary>The same as <see cref="Close"/>.</summary>
    public void Dispose() => Close("closed by this side");

    // The wrapper of both pumps: a broken connection becomes a reason; any other exception is a bug and ends the process.
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
        _released();
    }
}
