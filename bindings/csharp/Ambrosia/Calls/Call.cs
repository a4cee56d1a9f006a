using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using Ambrosia.Calls;

namespace Ambrosia;

/// <summary>
/// The task type of handlers for calls without a result. It completes on the scheduler's thread in log order, so that a handler that waits
/// for one is part of what the log replays. Inside a handler it is awaited once, from a method that returns <see cref="Call"/> or <see
/// cref="Call{T}"/>. Outside (other threads, <c>BecomingPrimary</c>) a proxy returns one only for an impulse; it completes when the impulse
/// is logged, and any async method may await it. A call that completes at once allocates nothing.
/// </summary>
[AsyncMethodBuilder(typeof(CallBuilder))]
public readonly struct Call : IEquatable<Call>
{
    internal Call(Source<Nothing>? source) => Source = source;

    /// <summary>The source that the call waits for; null if the call never suspended.</summary>
    internal Source<Nothing>? Source { get; }

    /// <summary>True once the call has its outcome: then an await goes on at once.</summary>
    public bool IsCompleted => Source is null || Source.IsDone || Scheduler.IsDoneInTest(Source);

    /// <summary>Gives the awaiter by which the compiler makes <c>await</c>.</summary>
    public CallAwaiter GetAwaiter() => new(Source);

    /// <summary>Gives the logging of an impulse as a task, for code outside the immortal.</summary>
    /// <exception cref="InvalidOperationException">The call was made by a handler: only handlers can wait for it.</exception>
    public Task AsTask() => Source switch
    {
        null => Task.CompletedTask,
        LoggedImpulse impulse => impulse.Task,
        _ => throw ForeignAwait.NotInHandler(),
    };

    /// <summary>Completes when all <paramref name="calls"/> have; fails with the first failure in their order.</summary>
    public static Call WhenAll(params ReadOnlySpan<Call> calls)
    {
        var parts = new Source<Nothing>[calls.Length];
        for (int i = 0; i < parts.Length; i++) parts[i] = calls[i].ToSource();
        return new Call(new JoinAll(parts));
    }

    /// <inheritdoc cref="WhenAll(ReadOnlySpan{Call})"/>
    public static Call WhenAll(List<Call> calls) => WhenAll(CollectionsMarshal.AsSpan(calls));

    /// <inheritdoc cref="WhenAll(ReadOnlySpan{Call})"/>
    public static Call WhenAll(Call[] calls) => WhenAll(calls.AsSpan());

    /// <inheritdoc cref="WhenAll(ReadOnlySpan{Call})"/>
    public static Call WhenAll(IEnumerable<Call> calls) => WhenAll(calls.ToArray());

    /// <summary>
    /// Completes when all <paramref name="calls"/> have, with their results in the same order; fails with the first failure in their order.
    /// </summary>
    public static Call<T[]> WhenAll<T>(params ReadOnlySpan<Call<T>> calls)
    {
        var parts = new Source<T>[calls.Length];
        for (int i = 0; i < parts.Length; i++) parts[i] = calls[i].ToSource();
        return new Call<T[]>(new JoinAll<T>(parts));
    }

    /// <inheritdoc cref="WhenAll{T}(ReadOnlySpan{Call{T}})"/>
    public static Call<T[]> WhenAll<T>(List<Call<T>> calls) => WhenAll<T>(CollectionsMarshal.AsSpan(calls));

    /// <inheritdoc cref="WhenAll{T}(ReadOnlySpan{Call{T}})"/>
    public static Call<T[]> WhenAll<T>(Call<T>[] calls) => WhenAll<T>(calls.AsSpan());

    /// <inheritdoc cref="WhenAll{T}(ReadOnlySpan{Call{T}})"/>
    public static Call<T[]> WhenAll<T>(IEnumerable<Call<T>> calls) => WhenAll<T>(calls.ToArray());

    /// <summary>
    /// Completes when one of <paramref name="calls"/> has, in whatever way, and gives that one; await it then for its outcome. Of several
    /// that are done the first in their order counts. The others can be awaited as before.
    /// </summary>
    /// <exception cref="ArgumentException">There is no call.</exception>
    public static Call<Call> WhenAny(params ReadOnlySpan<Call> calls)
    {
        var parts = new Source[calls.Length];
        for (int i = 0; i < parts.Length; i++) parts[i] = calls[i].ToSource();
        return new Call<Call>(new FirstOf<Call>(parts, calls.ToArray()));
    }

    /// <inheritdoc cref="WhenAny(ReadOnlySpan{Call})"/>
    public static Call<Call> WhenAny(List<Call> calls) => WhenAny(CollectionsMarshal.AsSpan(calls));

    /// <inheritdoc cref="WhenAny(ReadOnlySpan{Call})"/>
    public static Call<Call> WhenAny(Call[] calls) => WhenAny(calls.AsSpan());

    /// <inheritdoc cref="WhenAny(ReadOnlySpan{Call})"/>
    public static Call<Call> WhenAny(IEnumerable<Call> calls) => WhenAny(calls.ToArray());

    /// <inheritdoc cref="WhenAny(ReadOnlySpan{Call})"/>
    public static Call<Call<T>> WhenAny<T>(params ReadOnlySpan<Call<T>> calls)
    {
        var parts = new Source[calls.Length];
        for (int i = 0; i < parts.Length; i++) parts[i] = calls[i].ToSource();
        return new Call<Call<T>>(new FirstOf<Call<T>>(parts, calls.ToArray()));
    }

    /// <inheritdoc cref="WhenAny(ReadOnlySpan{Call})"/>
    public static Call<Call<T>> WhenAny<T>(List<Call<T>> calls) => WhenAny<T>(CollectionsMarshal.AsSpan(calls));

    /// <inheritdoc cref="WhenAny(ReadOnlySpan{Call})"/>
    public static Call<Call<T>> WhenAny<T>(Call<T>[] calls) => WhenAny<T>(calls.AsSpan());

    /// <inheritdoc cref="WhenAny(ReadOnlySpan{Call})"/>
    public static Call<Call<T>> WhenAny<T>(IEnumerable<Call<T>> calls) => WhenAny<T>(calls.ToArray());

    /// <summary>Says whether both are the same call, or both are complete without having been made.</summary>
    public static bool operator ==(Call left, Call right) => left.Equals(right);

    /// <summary>Says whether they are different calls.</summary>
    public static bool operator !=(Call left, Call right) => !left.Equals(right);

    /// <inheritdoc cref="op_Equality"/>
    public bool Equals(Call other) => ReferenceEquals(Source, other.Source);

    /// <inheritdoc/>
    public override bool Equals(object? obj) => obj is Call other && Equals(other);

    /// <summary>Gives a hash code of this process, which no other has.</summary>
    public override int GetHashCode() => Source is null ? 0 : RuntimeHelpers.GetHashCode(Source);

    /// <summary>Gives this call, waited for until <paramref name="cancellation"/> cancels it.</summary>
    public Call CancelledBy(CallCancellation cancellation)
    {
        ArgumentNullException.ThrowIfNull(cancellation);
        return new Call(new Cancellable<Nothing>(ToSource(), cancellation));
    }

    /// <summary>
    /// Gives this call, waited for so long by the time of the log; then it fails with a <see cref="TimeoutException"/>. The call itself has
    /// been sent and takes effect.
    /// </summary>
    public Call Within(TimeSpan time) => new(new Expiring<Nothing>(ToSource(), time));

    /// <summary>Gives a call that is complete already: for handlers that return a <see cref="Call{T}"/> without awaiting.</summary>
    public static Call<T> FromResult<T>(T value) => new(value);

    internal Source<Nothing> ToSource() => Source ?? new Source<Nothing>(default);
}
