using System.Globalization;
using Ambrosia.Calls;
using Ambrosia.Failures;
using Ambrosia.Proxies;

namespace Ambrosia;

/// <summary>Says by which method of a proxy a recorded call was made.</summary>
public enum RecordedKind
{
    /// <summary>It was <c>…Fork</c>: nobody waits for anything.</summary>
    Fork,

    /// <summary>It was <c>…Async</c>: the handler goes on when the test answers.</summary>
    Call,

    /// <summary>It was <c>…Logged</c>: an impulse, which counts as logged at once.</summary>
    Impulse,
}

/// <summary>
/// A call that an immortal made in a unit test. A test looks at it and answers it in the place of the instance that is called.
/// </summary>
public sealed class RecordedCall
{
    private readonly Scheduler _scheduler;
    private readonly IPendingCall? _pending;

    internal RecordedCall(Scheduler scheduler, ImmortalProxy proxy, SentMessage message, IPendingCall? pending)
    {
        _scheduler = scheduler;
        _pending = pending;
        To = proxy.InstanceName;
        Contract = proxy.ContractName;
        Method = message.Method;
        Arguments = message.Arguments;
    }

    /// <summary>The name of the instance that is called.</summary>
    public string To { get; }

    /// <summary>The name of the contract, such as <c>IBank</c>.</summary>
    public string Contract { get; }

    /// <summary>The name of the method in the contract, without an ending.</summary>
    public string Method { get; }

    /// <summary>The copies of the arguments that travel, in their order. Spans and memories of bytes are arrays here.</summary>
    public IReadOnlyList<object?> Arguments { get; }

    public RecordedKind Kind { get; internal init; }

    /// <summary>The idempotency key, if it has one.</summary>
    public string? Key { get; internal init; }

    /// <summary>True while a handler waits for the answer.</summary>
    public bool IsAwaited => _pending is { Source.IsDone: false };

    /// <summary>Answers a call of a method that returns nothing. What waited for it goes on before this returns.</summary>
    /// <exception cref="InvalidOperationException">Nobody waits for an answer, or it was given; or the method returns a value.</exception>
    public void Answer()
    {
        if (!Pending().TryCompleteWithNothing()) throw new InvalidOperationException($"{this} returns a value: answer with one.");
        GoOn();
    }

    /// <summary>Answers the call with a value. What waited for it goes on before this returns.</summary>
    /// <exception cref="InvalidOperationException">Nobody waits for an answer, or it was given.</exception>
    /// <exception cref="ArgumentException">The method returns another type: the type must be the method's, as
    /// <c>Answer(5L)</c>.</exception>
    public void Answer<T>(T value)
    {
        if (Pending() is not PendingCall<T> call)
            throw new ArgumentException(
                $"{this} does not return a {typeof(T).Name}: give a value of exactly its type.", nameof(value));
        call.Complete(value);
        GoOn();
    }

    /// <summary>Fails the call, as if the handler there had thrown this exception.</summary>
    /// <exception cref="InvalidOperationException">Nobody waits for an answer, or it was given.</exception>
    public void Fail(Exception failure)
    {
        ArgumentNullException.ThrowIfNull(failure);
        IPendingCall pending = Pending();
        pending.Source.Fail(pending.Proxy.FailureOf(RemoteCallException.Of(FailureWording.Describe(failure))));
        GoOn();
    }

    public override string ToString() => $"{Contract}({To}).{Method}({string.Join(", ", Arguments.Select(TextOf))})";

    private static string? TextOf(object? argument) => Convert.ToString(argument, CultureInfo.InvariantCulture);

    private IPendingCall Pending()
    {
        _scheduler.EnterTest();
        if (_pending is null) throw new InvalidOperationException($"{this} is not awaited by anybody.");
        if (_pending.Source.IsDone) throw new InvalidOperationException($"{this} was answered before.");
        return _pending;
    }

    private void GoOn() => _scheduler.Drain();
}
