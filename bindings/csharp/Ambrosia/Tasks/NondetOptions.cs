using Ambrosia.State;

namespace Ambrosia;

/// <summary>Says how the body of a NondetTask is run. Its result, or its last failure, is logged once; nothing else of it is.</summary>
public sealed record NondetOptions : IImagePart
{
    internal static readonly NondetOptions Once = new();

    /// <summary>The number of times that one process tries the body before its failure counts; at least 1.</summary>
    public int Attempts { get; init; } = 1;

    /// <summary>
    /// Says of what the body threw whether it is worth another attempt; null: of everything. It runs where the body does, so it asks
    /// nothing but the exception. Where it throws itself there is no further attempt.
    /// </summary>
    public Func<Exception, bool>? Retry { get; init; }

    /// <summary>The pause before the second attempt; it doubles up to <see cref="BackoffMax"/>.</summary>
    public TimeSpan Backoff { get; init; } = TimeSpan.FromMilliseconds(100);

    /// <summary>The longest pause between two attempts.</summary>
    public TimeSpan BackoffMax { get; init; } = TimeSpan.FromSeconds(30);

    /// <summary>
    /// The time, counted from the call and through restarts, after which the task fails with <see cref="TimeoutException"/>, whatever its
    /// body still does. Null: never.
    /// </summary>
    public TimeSpan? Deadline { get; init; }

    /// <summary>The full names of the types of exceptions that end the attempts. Names, so that they can be in a checkpoint.</summary>
    internal string[] Final { get; init; } = [];

    /// <summary>
    /// Gives these options with one more kind of exception, derived ones included, behind which there is no further attempt.
    /// </summary>
    public NondetOptions NotRetrying<TException>()
        where TException : Exception => this with { Final = [.. Final, typeof(TException).FullName!] };

    /// <summary>Says whether what a body threw may be worth another attempt, as far as the app says.</summary>
    internal bool IsWorthAnother(Exception failure)
    {
        for (Type? type = failure.GetType(); type is not null; type = type.BaseType)
            if (Array.IndexOf(Final, type.FullName) >= 0) return false;
        return Retry?.Invoke(failure) ?? true;
    }

    /// <exception cref="ArgumentException">A value that cannot be.</exception>
    internal void Check()
    {
        if (Attempts < 1) throw new MisusedArgumentException(Misuse.TaskAttempts, $"{Attempts}");
        if (Backoff < TimeSpan.Zero || BackoffMax < Backoff)
            throw new MisusedArgumentException(Misuse.TaskBackoff, $"{Backoff} and {BackoffMax}");
        if (Deadline < TimeSpan.Zero) throw new MisusedArgumentException(Misuse.TaskDeadline, $"{Deadline}");
    }
}
