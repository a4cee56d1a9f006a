using Ambrosia.Log.Files;

namespace Ambrosia.Log.Tests;

/// <summary>Ends the "process" at the nth hit of a crash point, and counts every hit.</summary>
internal sealed class CrashAt(string? name = null, int nth = 1) : ICrashPoints
{
    private readonly Dictionary<string, int> _hits = [];

    public IReadOnlyDictionary<string, int> Hits => _hits;

    public void Hit(string hit)
    {
        int count = _hits[hit] = _hits.GetValueOrDefault(hit) + 1;
        if (hit == name && count == nth) throw new Crashed(hit);
    }

    internal sealed class Crashed(string at) : Exception($"crashed at {at}");
}
