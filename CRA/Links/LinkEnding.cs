namespace CRA;

/// <summary>
/// Whether and why a connection ends. It only moves forward: open, finishing (nothing more is fed, what is queued is sent), closed
/// (everything stops); finishing may be left out. The first reason counts. Any thread.
/// </summary>
internal sealed class LinkEnding(LinkStream stream)
{
    private readonly CancellationTokenSource _stop = new();

    // The first reason; set before _stage leaves 0, never changed.
    private string? _why;

    // 0 open, 1 finishing, 2 closed; never decreases.
    private int _stage;

    public bool IsFinishing => Volatile.Read(ref _stage) >= 1;

    public bool IsClosed => Volatile.Read(ref _stage) == 2;

    /// <summary>Cancelled as soon as nothing more is fed.</summary>
    public CancellationToken Stop => _stop.Token;

    /// <summary>Defined when finishing.</summary>
    public string Why => _why ?? throw new InvalidOperationException("The connection has not ended.");

    /// <summary>True for the call that made it finishing.</summary>
    public bool Finish(string why)
    {
        Interlocked.CompareExchange(ref _why, why, null);
        if (Interlocked.CompareExchange(ref _stage, 1, 0) != 0) return false;
        _stop.Cancel();
        return true;
    }

    /// <summary>True for the call that made it closed; threads that are blocked in the socket come back.</summary>
    public bool Close(string why)
    {
        Interlocked.CompareExchange(ref _why, why, null);
        if (Interlocked.Exchange(ref _stage, 2) == 2) return false;
        _stop.Cancel();
        stream.Abort();
        return true;
    }
}
