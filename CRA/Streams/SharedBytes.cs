namespace CRA.Streams;

/// <summary>
/// One bound over what many connections hold together, beyond the share that each has of its own. What would pass the bound is refused to
/// the connection that asks, which then ends; but one that is alone may hold more, so that no frame is too large for ever. Invariant: the
/// sum is that of what all have taken and not given back. Any thread.
/// </summary>
/// <param name="bytesMax">The bound.</param>
public sealed class SharedBytes(long bytesMax)
{
    private long _held, _refused;

    /// <summary>The bound.</summary>
    public long BytesMax => bytesMax;

    /// <summary>The bytes that are held now.</summary>
    public long Held => Volatile.Read(ref _held);

    /// <summary>The number of times that the bound refused to let a connection hold more.</summary>
    public long Refused => Volatile.Read(ref _refused);

    /// <summary>Lets one connection hold <paramref name="to"/> bytes in the place of <paramref name="from"/>; false: it does not.</summary>
    public bool TryChange(long from, long to)
    {
        long held = Interlocked.Add(ref _held, to - from);
        if (to <= from || held <= bytesMax || held == to) return true;
        Interlocked.Add(ref _held, from - to);
        Interlocked.Increment(ref _refused);
        return false;
    }
}
