using Ambrosia.Protocol.Runs;

// The exceptions by which the binding itself fails a call. Users catch them by the types of the framework that they derive from; what
// travels is the name and text of protocol P4.6. The full names of those that a handler can hold are data, in images of state.
namespace Ambrosia;

/// <summary>A message, or a result, is longer than the limit in force (protocol P3.4).</summary>
internal sealed class OverLimitException : InvalidOperationException, IListedFailure
{
    private readonly long _bytes, _bytesMax;

    internal OverLimitException(long bytes, long bytesMax) => (_bytes, _bytesMax) = (bytes, bytesMax);

    /// <summary>The text is made anew, so that an image in which a handler keeps this exception holds no words of ours.</summary>
    public override string Message =>
        $"A message of {_bytes} bytes is longer than the limit of {_bytesMax} bytes (protocol P3.4); send it in parts.";

    FailureInfo IListedFailure.Failure => ListedFailures.TooLong(_bytesMax);
}

/// <summary>A query does what only handlers do.</summary>
internal sealed class NotInQueryException : InvalidOperationException, IListedFailure
{
    private readonly string _what;

    internal NotInQueryException(string what)
        : base(
            $"A query {what}: it is in no log, so it reads and answers, and does nothing else. "
            + "Without [Query] the method is a handler, which may do that.") =>
        _what = what;

    FailureInfo IListedFailure.Failure => ListedFailures.NotInQuery(_what);
}

/// <summary>A conversion of state does what only handlers do. It travels nowhere, since no message called it.</summary>
internal sealed class NotInConversionException(string what) : InvalidOperationException(
    $"A conversion {what}: it makes the new state of the old one, is done again wherever the log is read, and does nothing else. "
    + "Proxies, Now, Random and NewGuid are allowed; what is to be sent or timed is for a handler.");

/// <summary>A message names a method that the contract does not have.</summary>
internal sealed class NoMethodException : MissingMethodException, IListedFailure
{
    private readonly uint _method;

    internal NoMethodException(string message, uint method) : base(message) => _method = method;

    FailureInfo IListedFailure.Failure => ListedFailures.NoMethod(_method);
}

/// <summary>The arguments of a message are not what the contract says. The cause is in the stack alone.</summary>
internal sealed class BadArgumentsException : Exception, IListedFailure
{
    private readonly uint _method;

    internal BadArgumentsException(uint method, Exception why) : base(ListedFailures.BadArguments(method).Message, why) => _method = method;

    FailureInfo IListedFailure.Failure => ListedFailures.BadArguments(_method);

    /// <summary>Returns the failure of arguments; one that is in the list already says more by itself.</summary>
    internal static Exception Of(Exception why, uint method) => why is IListedFailure ? why : new BadArgumentsException(method, why);
}

/// <summary>The result of a handler cannot be encoded. The cause is in the stack alone.</summary>
internal sealed class BadResultException : Exception, IListedFailure
{
    private readonly uint _method;

    internal BadResultException(uint method, Exception? why) : base(ListedFailures.ResultNotEncoded(method).Message, why) =>
        _method = method;

    FailureInfo IListedFailure.Failure => ListedFailures.ResultNotEncoded(_method);

    /// <summary>Returns the failure of a result; one that is in the list already says more by itself, but for that of a value.</summary>
    internal static Exception Of(Exception why, uint method) =>
        why is IListedFailure and not UnencodableException ? why : new BadResultException(method, why);
}
