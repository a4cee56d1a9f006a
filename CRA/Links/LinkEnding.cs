using CRA.Streams;

namespace CRA.Links;

/// <summary>
/// Says whether and why a connection ends. Its stage only moves forward: open, finishing (nothing more is fed, and what is queued is sent),
/// closed (everything stops); finishing may be left out. Only the first reason counts. Any thread may call it.
/// </summary>
internal sealed class LinkEnding(LinkStream stream)
{
    private readonly CancellationTokenSource _stop = new();

    /// <summary>The first reason. It is set before <see cref="_stage"/> leaves 0 and never changes.</summary>
    private string? _why;

    /// <summary>0 is open, 1 finishing, 2 closed. It never decreases.</summary>
    private int _stage;

    public bool IsFinishing => Volatile.Read(ref _stage) >= 1;

    public bool IsClosed => Volatile.Read(ref _stage) == 2;

    /// <summary>This token is cancelled as soon as nothing more is fed.</summary>
    public CancellationToken Stop => _stop.Token;

    /// <summary>The reason of the end; defined from finishing on.</summary>
    public string Why => _why ?? throw new InvalidOperationException("The connection has not ended.");

    /// <summary>Begins to finish; returns true for the call that did so first.</summary>
    public bool Finish(string why)
    {
        Interlocked.CompareExchange(ref _why, why, null);
        if (Interlocked.CompareExchange(ref _stage, 1, 0) != 0) return false;
        _stop.Cancel();
        return true;
    }

    /// <summary>
    /// Closes; returns true for the call that did so first. Threads that are blocked in the socket come back.
    /// </summary>
    public bool Close(string why)
    {
        Interlocked.CompareExchange(ref _why, why, null);
        if (Interlocked.Exchange(ref _stage, 2) == 2) return false;
        _stop.Cancel();
        stream.Abort();
        return true;
    }
}
