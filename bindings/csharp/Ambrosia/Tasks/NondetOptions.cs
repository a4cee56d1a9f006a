namespace Ambrosia;

/// <summary>How the body of a NondetTask is run. Its result, or its last failure, is logged once; nothing else of it is.</summary>
public sealed record NondetOptions : IImagePart
{
    internal static readonly NondetOptions Once = new();

    /// <summary>How often the body is tried by one process before its failure counts; at least 1.</summary>
    public int Attempts { get; init; } = 1;

    /// <summary>Pause before the second attempt; it doubles up to <see cref="BackoffMax"/>.</summary>
    public TimeSpan Backoff { get; init; } = TimeSpan.FromMilliseconds(100);

    public TimeSpan BackoffMax { get; init; } = TimeSpan.FromSeconds(30);

    /// <summary>
    /// Counted from the call, through restarts: then the task fails with <see cref="TimeoutException"/>, whatever its body
    /// still does. Null: never.
    /// </summary>
    public TimeSpan? Deadline { get; init; }

    /// <exception cref="ArgumentException">A value that cannot be.</exception>
    internal void Check()
    {
        if (Attempts < 1) throw new ArgumentException($"{nameof(Attempts)} is {Attempts}; the body runs at least once.");
        if (Backoff < TimeSpan.Zero || BackoffMax < Backoff)
            throw new ArgumentException($"{nameof(Backoff)} {Backoff} and {nameof(BackoffMax)} {BackoffMax}: from zero, and not falling.");
        if (Deadline < TimeSpan.Zero) throw new ArgumentException($"{nameof(Deadline)} is {Deadline}.");
    }
}
