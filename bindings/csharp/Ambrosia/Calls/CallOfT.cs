using System.Runtime.CompilerServices;
using Ambrosia.Calls;
using Ambrosia.Protocol.Runs;

namespace Ambrosia;

/// <summary>A call with a result of type <typeparamref name="T"/>. It follows the rules of <see cref="Call"/>.</summary>
[AsyncMethodBuilder(typeof(CallBuilder<>))]
public readonly struct Call<T> : IEquatable<Call<T>>
{
    private readonly Source<T>? _source;
    private readonly T _value;

    internal Call(Source<T> source)
    {
        _source = source;
        _value = default!;
    }

    internal Call(T value)
    {
        _source = null;
        _value = value;
    }

    /// <summary>The source that the call waits for; null if the call never suspended.</summary>
    internal Source<T>? Source => _source;

    /// <inheritdoc cref="Call.IsCompleted"/>
    public bool IsCompleted => _source is null || _source.IsDone || Scheduler.IsDoneInTest(_source);

    /// <inheritdoc cref="Call.GetAwaiter"/>
    public CallAwaiter<T> GetAwaiter() => new(_source, _value);

    /// <summary>Gives this call, waited for until <paramref name="cancellation"/> cancels it.</summary>
    public Call<T> CancelledBy(CallCancellation cancellation)
    {
        ArgumentNullException.ThrowIfNull(cancellation);
        return new Call<T>(new Cancellable<T>(ToSource(), cancellation));
    }

    /// <summary>
    /// Gives this call, waited for so long by the time of the log; then it fails with a <see cref="TimeoutException"/>. The call itself has
    /// been sent and takes effect.
    /// </summary>
    public Call<T> Within(TimeSpan time) => new(new Expiring<T>(ToSource(), time));

    /// <summary>Says whether both are the same call, or both were complete from the beginning and have equal values.</summary>
    public static bool operator ==(Call<T> left, Call<T> right) => left.Equals(right);

    /// <summary>Says whether they are different calls.</summary>
    public static bool operator !=(Call<T> left, Call<T> right) => !left.Equals(right);

    /// <inheritdoc cref="op_Equality"/>
    public bool Equals(Call<T> other) =>
        ReferenceEquals(_source, other._source) && (_source is not null || EqualityComparer<T>.Default.Equals(_value, other._value));

    /// <inheritdoc/>
    public override bool Equals(object? obj) => obj is Call<T> other && Equals(other);

    /// <inheritdoc cref="Call.GetHashCode"/>
    public override int GetHashCode() =>
        _source is not null ? System.Runtime.CompilerServices.RuntimeHelpers.GetHashCode(_source)
        : _value is null ? 0 : EqualityComparer<T>.Default.GetHashCode(_value);

    internal Source<T> ToSource() => _source ?? new Source<T>(_value);
}

/// <summary>
/// Waits for a call's outcome, or fails with a <see cref="TimeoutException"/> if the record of its timer comes first: the log decides, so
/// every execution agrees.
/// </summary>
internal sealed class Expiring<T> : Source<T>
{
    private readonly Source<T> _call;
    private readonly Source<Nothing>? _timer;

    internal Expiring(Source<T> call, TimeSpan time)
    {
        _call = call;
        if (call.IsDone)
        {
            Conclude();
            return;
        }
        _timer = Scheduler.Current.Session.BeginDelay(time);
        call.AwaitedBy(this);
        _timer.AwaitedBy(this);
    }

    internal override void Resume()
    {
        if (!IsDone) Conclude();
    }

    internal override void GiveUp(Exception why)
    {
        if (IsDone) return;
        StopTimer();
        _call.NoLongerAwaitedBy(this);
        _call.GiveUp(why);
        FailGivenUp(why);
    }

    private void StopTimer()
    {
        if (_timer is not { IsDone: false }) return;
        _timer.NoLongerAwaitedBy(this);
        Scheduler.Current.Session.CancelDelay(_timer);
    }

    /// <summary>Takes the result if it is there, even if the time is over too.</summary>
    private void Conclude()
    {
        if (!_call.IsDone)
        {
            GiveUp(new TimeoutException(ListedFailures.TimeoutText));
            return;
        }
        StopTimer();
        if (_call.Error is { } failure) Fail(failure);
        else Complete(_call.Take());
    }
}
