using Ambrosia.Protocol;
using Ambrosia.Protocol.Records;

namespace Ambrosia.Coordinator.Replica;

/// <summary>
/// The app did not do again what it did before: it is not deterministic, or its code changed. The replica stops (exit 70).
/// </summary>
internal sealed class DivergenceException(string message) : Exception(message)
{
    /// <summary>The first that an operator reads: there is nothing to mend in a log, and nobody to forget.</summary>
    public const string Cause = "the app is not deterministic, or its code was changed";

    private const string SameForSame = "The app must emit the same calls and answers for the same inputs.";

    public static DivergenceException OfChannel(
        InstanceId destination, (ulong Number, ulong Hash) actual, (ulong Number, ulong Hash) expected) => new(
        $"{Cause}: replay differs on the channel to {destination}: after {actual.Number} calls the hash is {actual.Hash:x16}, " +
        $"it was {expected.Hash:x16} after {expected.Number}. The app must emit the same calls for the same inputs; look for clocks, " +
        "randomness, unordered enumeration, other threads, or changed code.");

    /// <summary>The app has emitted otherwise, up to a place of the log, than one that has died since.</summary>
    public static DivergenceException OfPlace(
        InstanceId destination, Lsn place, (ulong Number, ulong Hash) actual, (ulong Number, ulong Hash) expected) => new(
        $"{Cause}: replay differs on the channel to {destination}: up to log position {place} the app made {actual.Number} calls with hash " +
        $"{actual.Hash:x16}, and {expected.Number} with hash {expected.Hash:x16} before it died. {SameForSame}");

    /// <summary>The app makes more calls, below a place of the log, than one that has died since and had executed all below it.</summary>
    public static DivergenceException OfMore(InstanceId destination, Lsn below, ulong actual, ulong expected) => new(
        $"{Cause}: replay differs on the channel to {destination}: below log position {below} the app makes {actual} calls, and had made no " +
        $"more than {expected} before it died. Nothing of what is new was sent. {SameForSame}");

    public static DivergenceException OfAnswers(AnswerDigest actual, AnswerDigest expected) => new(
        $"{Cause}: replay differs in the answers to callers outside: the app gave {actual.Count} with hash {actual.Hash:x16}, and " +
        $"{expected.Count} with hash {expected.Hash:x16} before it died. {SameForSame}");

    public static DivergenceException OfTrim(InstanceId destination, ulong actual, ulong expected) => new(
        $"{Cause}: replay differs on the channel to {destination}: {actual} calls were emitted where the log says that {expected} were made and " +
        $"received. {SameForSame}");
}
