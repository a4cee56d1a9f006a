using System.ComponentModel;

namespace Ambrosia.EndToEnd.Tests;

/// <summary>A test that needs networks of its own; skipped, with the reason, where none can be made.</summary>
[AttributeUsage(AttributeTargets.Method)]
public sealed class NamespaceTheoryAttribute : TheoryAttribute
{
    private static readonly string? s_whyNot = WhyNot();

    public NamespaceTheoryAttribute()
    {
        if (s_whyNot is not null) Skip = s_whyNot;
    }

    private static string? WhyNot()
    {
        if (!Environment.IsPrivilegedProcess) return "only root can make network namespaces";
        try
        {
            using var trial = new TwoNetworks();
            string[] inside = trial.Inside(0);
            return SmallDisk.Run(inside[0], [.. inside[1..], "true"]) is { Length: > 0 } why
                ? $"no process can be put into a namespace here: {why}" : null;
        }
        catch (Exception e) when (e is IOException or Win32Exception)
        {
            return $"no network namespaces can be made here: {e.Message}";
        }
    }
}
