using System.Diagnostics;
using System.Numerics;
using System.Reflection;

namespace Ambrosia;

/// <summary>
/// Which queries are held against the state. A check writes two images, so what it costs grows with the state: a rarely asked one is
/// checked almost always, a frequent one seldom.
/// </summary>
internal sealed class QueryChecks(QueryChecking? chosen, Assembly app)
{
    /// <summary>Methods that are counted; ids come from callers, and no contract has so many.</summary>
    private const int MethodsMax = 4096;

    private readonly QueryChecking checking = chosen
        ?? (app.GetCustomAttribute<DebuggableAttribute>() is { IsJITOptimizerDisabled: true } ? QueryChecking.Always
            : QueryChecking.Sampled);
    private readonly Dictionary<uint, ulong> asked = [];

    /// <summary>Methods that are counted now.</summary>
    internal int Methods => asked.Count;

    /// <summary>Another query of this method is about to run.</summary>
    internal bool Wants(uint method)
    {
        if (checking != QueryChecking.Sampled) return checking == QueryChecking.Always;
        if (asked.Count == MethodsMax && !asked.ContainsKey(method)) return false;
        ulong count = asked.GetValueOrDefault(method) + 1;
        asked[method] = count;
        return BitOperations.IsPow2(count);
    }

    /// <summary>What the environment says; null: nothing.</summary>
    /// <exception cref="FormatException">It is none of the words.</exception>
    internal static QueryChecking? Parse(string? text) => text switch
    {
        null or "" => null,
        "always" => QueryChecking.Always,
        "sampled" => QueryChecking.Sampled,
        "never" => QueryChecking.Never,
        _ => throw new FormatException($"AMBROSIA_CHECK_QUERIES is '{text}', not always, sampled or never"),
    };
}
