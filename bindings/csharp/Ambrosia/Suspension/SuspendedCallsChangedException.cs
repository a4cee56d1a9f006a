using Ambrosia.Suspension;

namespace Ambrosia;

/// <summary>
/// An image holds suspended methods whose bodies this build no longer has; the message has a line for each method and await.
/// </summary>
public sealed class SuspendedCallsChangedException : Exception
{
    internal SuspendedCallsChangedException(IReadOnlyList<string> refusals)
        : base($"The checkpoint holds suspended calls that this build cannot continue:\n{string.Join('\n', refusals)}\n" +
            $"Nothing is lost: {BodyFindings.Mend}.") =>
        Refusals = refusals;

    /// <summary>The refusals, one line for each method and await.</summary>
    public IReadOnlyList<string> Refusals { get; }
}
