using System.Runtime.CompilerServices;

namespace Ambrosia;

/// <summary>A result to come; see <see cref="Call"/> for the rules.</summary>
[AsyncMethodBuilder(typeof(CallBuilder<>))]
public readonly struct Call<T>
{
    private readonly Source<T>? source;
    private readonly T value;

    internal Call(Source<T> source)
    {
        this.source = source;
        value = default!;
    }

    internal Call(T value)
    {
        source = null;
        this.value = value;
    }

    /// <summary>Null: it never suspended.</summary>
    internal Source<T>? Source => source;

    public bool IsCompleted => source is null || source.IsDone;

    public CallAwaiter<T> GetAwaiter() => new(source, value);

    /// <summary>This call, waited for until <paramref name="cancellation"/> cancels it.</summary>
    public Call<T> CancelledBy(CallCancellation cancellation)
    {
        ArgumentNullException.ThrowIfNull(cancellation);
        return new Call<T>(new Cancellable<T>(ToSource(), cancellation));
    }

    /// <summary>
    /// This call, waited for so long by the time of the log; then it fails with a <see cref="TimeoutException"/>. The call itself has
    /// been sent and takes effect.
    /// </summary>
    public Call<T> Within(TimeSpan time) => new(new Expiring<T>(ToSource(), time));

    internal Source<T> ToSource() => source ?? new Source<T>(value);
}
