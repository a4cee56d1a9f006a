using Ambrosia.Protocol;

namespace Ambrosia.Coordinator.Replica;

/// <summary>
/// The app did not do again what it did before: it is not deterministic, or its code changed. The replica stops (exit 70).
/// </summary>
internal sealed class DivergenceException(string message) : Exception(message)
{
    /// <summary>The first that an operator reads: there is nothing to mend in a log, and nobody to forget.</summary>
    public const string Cause = "the app is not deterministic, or its code was changed";

    public static DivergenceException OfChannel(
        InstanceId destination, (ulong Number, ulong Hash) actual, (ulong Number, ulong Hash) expected) => new(
        $"{Cause}: replay differs on the channel to {destination}: after {actual.Number} calls the hash is {actual.Hash:x16}, " +
        $"it was {expected.Hash:x16} after {expected.Number}. The app must emit the same calls for the same inputs; look for clocks, " +
        "randomness, unordered enumeration, other threads, or changed code.");

    public static DivergenceException OfTrim(InstanceId destination, ulong actual, ulong expected) => new(
        $"{Cause}: replay differs on the channel to {destination}: {actual} calls were emitted where the log says that {expected} were made and " +
        "received. The app must emit the same calls for the same inputs.");
}
