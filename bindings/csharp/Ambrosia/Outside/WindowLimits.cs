using Ambrosia.Protocol;

namespace Ambrosia;

/// <summary>How long and how many answers to keyed calls are kept.</summary>
/// <param name="AgeUs">In µs of log time.</param>
internal readonly record struct WindowLimits(ulong AgeUs, ulong EntriesMax, ulong BytesMax)
{
    internal static WindowLimits Of(PolicyRecord policy) => new(policy.WindowUs, policy.EntriesMax, policy.BytesMax);
}
