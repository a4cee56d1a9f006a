using Ambrosia.Protocol;
using CRA.Links;

namespace CRA.Tests;

/// <summary>
/// Traffic whose bytes the test queues and whose received bytes it inspects; every member may be made to behave badly.
/// </summary>
internal sealed class QueueTraffic : ILinkTraffic
{
    private readonly Lock _lock = new();
    private readonly Queue<byte[]> _queue = new();
    private int _left;

    public delegate FeedResult Feeding(ReadOnlySpan<byte> bytes, out int consumed);

    public List<byte> Received { get; } = [];
    public Feeding? OnFeed { get; init; }
    public Action<CancellationToken>? OnWait { get; init; }
    public ReadOnlyMemory<byte> HeartbeatFrame { get; set; }
    public int FrameBytesWanted => 0;
    public int ReceivedBytes => Volatile.Read(ref _receivedBytes);
    public int TakenBytes => Volatile.Read(ref _takenBytes);
    public int EndedCount => Volatile.Read(ref _endedCount);
    public string? Why { get; private set; }
    public volatile string? Fault;

    private int _receivedBytes;
    private int _takenBytes;
    private int _endedCount;

    public void Queue(params byte[] bytes)
    {
        lock (_lock) _queue.Enqueue(bytes);
    }

    public FeedResult Feed(ReadOnlySpan<byte> bytes, bool drained, out int consumed)
    {
        if (OnFeed is { } feed) return feed(bytes, out consumed);
        consumed = bytes.Length;
        lock (_lock) Received.AddRange(bytes);
        Interlocked.Add(ref _receivedBytes, bytes.Length);
        return FeedResult.Continue;
    }

    public byte[] TakeReceived()
    {
        lock (_lock) return [.. Received];
    }

    public void WaitForRoom(CancellationToken stop) => OnWait!(stop);

    public bool TryTake(out ReadOnlyMemory<byte> bytes)
    {
        lock (_lock)
        {
            bytes = default;
            if (_left != 0) Fault = "asked again before all was taken";
            if (EndedCount > 0) Fault = "asked after its end";
            if (!_queue.TryDequeue(out byte[]? next)) return false;
            bytes = next;
            _left = next.Length;
            return true;
        }
    }

    public void Taken(int bytes)
    {
        lock (_lock) _left -= bytes;
        Interlocked.Add(ref _takenBytes, bytes);
    }

    public void Ended(string why)
    {
        Why = why;
        Interlocked.Increment(ref _endedCount);
    }

    public static FeedResult Violate(ReadOnlySpan<byte> bytes, out int consumed) => throw new ProtocolViolation("P2.1", "planted");
}
