namespace CRA.Links;

/// <summary>
/// Says for how long an accept loop rests to which the system gives no connection, most often because the process has no descriptors left:
/// 100 ms at first, then twice as long each time, up to 2 s. It owns whether such trouble lasts, so that its owner tells operators of its
/// beginning and of its end, and of nothing in between. The accepting thread uses it.
/// </summary>
public sealed class AcceptBackoff
{
    public static readonly TimeSpan FirstRest = TimeSpan.FromMilliseconds(100), RestMax = TimeSpan.FromSeconds(2);

    private TimeSpan _next = FirstRest;

    /// <summary>The system has refused so often since it last gave a connection.</summary>
    public long Failures { get; private set; }

    /// <summary>The system gave no connection; returns the rest before the next try.</summary>
    /// <param name="isFirst">The trouble begins with this failure.</param>
    public TimeSpan Failed(out bool isFirst)
    {
        isFirst = Failures++ == 0;
        TimeSpan rest = _next;
        _next = rest * 2 < RestMax ? rest * 2 : RestMax;
        return rest;
    }

    /// <summary>The system gave a connection; returns true when that ends trouble that lasted for so many failures.</summary>
    public bool Succeeded(out long failures)
    {
        failures = Failures;
        if (failures == 0) return false;
        (Failures, _next) = (0, FirstRest);
        return true;
    }
}
