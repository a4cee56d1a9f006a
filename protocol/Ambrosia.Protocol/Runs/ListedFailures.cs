namespace Ambrosia.Protocol.Runs;

/// <summary>
/// Makes the failures that a binding or a coordinator reports by itself, each with the name and the text of the list in protocol P4.6. They
/// are bytes under channel hashes and digests, so nothing of a language or of its runtime stands in them: every binding writes the same.
/// </summary>
public static class ListedFailures
{
    /// <summary>The text of a <see cref="TimeoutException"/> that is <see cref="FailureNames.Timeout"/> in the list.</summary>
    public const string TimeoutText = "The result did not come in time.";

    /// <summary>The text of an <see cref="OperationCanceledException"/> that is <see cref="FailureNames.Cancelled"/> in the list.</summary>
    public const string CancelledText = "The call was cancelled before its result came.";

    /// <summary>
    /// Returns what the list says of an exception; null: it is not in the list. A handler that waits too long gets the framework's own
    /// exceptions, which it may keep in its state, so these two are known by type and text.
    /// </summary>
    public static FailureInfo? Of(Exception exception) => exception switch
    {
        IListedFailure listed => listed.Failure,
        NestedTooDeepException => Misuse("a value"),
        TimeoutException { Message: TimeoutText } => Timeout(),
        OperationCanceledException { Message: CancelledText } => Cancelled(),
        _ => null,
    };

    /// <summary>
    /// Returns what stands in place of a text that the app did not write, but its language, a library of that, or the system (P4.7).
    /// </summary>
    /// <param name="typeName">The type name under which it travels.</param>
    public static string NoText(string typeName) => $"{typeName} was thrown.";

    /// <summary>Says whether a failure of the list leaves open what exactly was wrong, which the words that do not travel say.</summary>
    public static bool NeedsWords(FailureInfo failure) => failure.TypeName is FailureNames.Misuse or FailureNames.LimitReached;

    public static FailureInfo NoMethod(uint method) => new(FailureNames.NoMethod, $"Method 0x{method:X} is not in the contract.");

    public static FailureInfo BadArguments(uint method) =>
        new(FailureNames.BadArguments, $"The arguments of method 0x{method:X} cannot be decoded.");

    /// <summary>The handler of the called instance returned what cannot travel.</summary>
    public static FailureInfo ResultNotEncoded(uint method) =>
        new(FailureNames.BadResult, $"The result of method 0x{method:X} cannot be encoded.");

    /// <summary>What came back is not what the caller's version of the contract says.</summary>
    public static FailureInfo ResultNotDecoded(uint method) =>
        new(FailureNames.BadResult, $"The result of method 0x{method:X} cannot be decoded.");

    public static FailureInfo TaskResultNotDecoded(ulong task) =>
        new(FailureNames.BadResult, $"The result of task {task} cannot be decoded.");

    /// <param name="union">The union's name in its manifest.</param>
    public static FailureInfo UnknownCase(string union, ulong number) =>
        new(FailureNames.UnknownCase, $"{union} has no case {number} in this version of the contract.");

    public static FailureInfo BadFailure() => new(FailureNames.BadFailure, "The failure cannot be decoded.");

    /// <param name="bytesMax">The message limit in force.</param>
    public static FailureInfo TooLong(long bytesMax) =>
        new(FailureNames.TooLong, $"The message is longer than the limit of {bytesMax} bytes.");

    public static FailureInfo Timeout() => new(FailureNames.Timeout, TimeoutText);

    public static FailureInfo Cancelled() => new(FailureNames.Cancelled, CancelledText);

    /// <summary>The handler let the failure of a call of its own through.</summary>
    public static FailureInfo CallFailed(FailureInfo failure) => new(FailureNames.CallFailed, failure.Message, failure);

    /// <param name="peer">The peer's name.</param>
    /// <param name="uuid">The identity that was given up: its name may be another's later.</param>
    public static FailureInfo PeerForgotten(string peer, Guid uuid) => new(FailureNames.PeerForgotten,
        $"An operator has given up {peer} ({uuid}): its answer will not come, and whether the call took effect there is unknown.");

    public static FailureInfo TaskGivenUp(ulong task) => new(FailureNames.TaskGivenUp,
        $"An operator has given up task {task}: its body is not run again, and what it has done to the world is unknown.");

    public static FailureInfo KeyReused() => new(FailureNames.KeyReused,
        "The key was used for this method before, with other arguments. Nothing was done: give each request a key of its own.");

    /// <param name="what">What was asked for, as the list in P4.6 says it.</param>
    public static FailureInfo NotSupported(string what) => new(FailureNames.NotSupported, $"This app does not support {what}.");

    /// <param name="what">What the query does, as the list in P4.6 says it.</param>
    public static FailureInfo NotInQuery(string what) =>
        new(FailureNames.NotInQuery,
            $"A query {what}: it is in no log, so it reads and answers, and does nothing else. A method that is no query may do that.");

    public static FailureInfo QueryChangedState(uint method) =>
        new(FailureNames.QueryChangedState, $"The query 0x{method:X} has changed the state, so that replica ends.");

    public static FailureInfo AppEnded(int times) => new(FailureNames.AppEnded,
        $"The app ended {times} times while it had this query to answer; perhaps the query ends it.");

    /// <param name="what">What the app uses as it may not be used, as the list in P4.6 says it.</param>
    public static FailureInfo Misuse(string what) => new(FailureNames.Misuse, $"The binding does not allow this use of {what}.");

    /// <param name="what">What there is too much of, as the list in P4.6 says it.</param>
    public static FailureInfo LimitReached(int limit, string what) =>
        new(FailureNames.LimitReached, $"There are {limit} {what}, which is the limit.");

    /// <summary>The flow of a binding that keeps journals has done more than one can hold.</summary>
    public static FailureInfo FlowTooLong() =>
        new(FailureNames.FlowTooLong, "The flow has done more than can be kept: go on with again(…).");

    /// <summary>An exception came whose type has no name that another process could rely on.</summary>
    public static FailureInfo Failed() => new(FailureNames.Failed, NoText(FailureNames.Failed));
}

/// <summary>Lets an exception say under which name and text of protocol P4.6 it travels, instead of its own type and message.</summary>
public interface IListedFailure
{
    /// <summary>The failure that travels. The exception's own message and causes go no further than the stack (P3.7).</summary>
    FailureInfo Failure { get; }
}
