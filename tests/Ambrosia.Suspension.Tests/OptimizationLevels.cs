using Ambrosia.TestKit;
using Microsoft.CodeAnalysis;

namespace Ambrosia.Suspension.Tests;

/// <summary>How the shapes are compiled: a release tries each way, and a commit one of them, another each time.</summary>
public static class OptimizationLevels
{
    private static readonly OptimizationLevel[] s_all = [OptimizationLevel.Release, OptimizationLevel.Debug];

    public static TheoryData<OptimizationLevel> Tried { get; } = Sample();

    private static TheoryData<OptimizationLevel> Sample()
    {
        (int first, int step) = TestScale.Sample(s_all.Length);
        var tried = new TheoryData<OptimizationLevel>();
        for (int i = first; i < s_all.Length; i += step) tried.Add(s_all[i]);
        return tried;
    }
}
