using Ambrosia.TestKit;

namespace Ambrosia.Perf.Tests;

/// <summary>A theory that compiles the C++ binding; skipped, with the reason, at a commit, and where the rivals cannot be built.</summary>
[AttributeUsage(AttributeTargets.Method)]
public sealed class CppEndTheoryAttribute : RivalTheoryAttribute
{
    public CppEndTheoryAttribute()
    {
        if (TestScale.Value < 1) Skip ??= $"it compiles the C++ binding, which takes a minute: {TestScale.Variable}=1";
    }
}
