using System.Diagnostics;

namespace Ambrosia.EndToEnd.Tests;

/// <summary>A test that looks at system calls; skipped, with the reason, where they cannot be looked at.</summary>
[AttributeUsage(AttributeTargets.Method)]
public sealed class StraceFactAttribute : FactAttribute
{
    private static readonly string? s_whyNot = WhyNot();

    public StraceFactAttribute()
    {
        if (s_whyNot is not null) Skip = s_whyNot;
    }

    private static string? WhyNot()
    {
        try
        {
            using Process trial = Process.Start(
                new ProcessStartInfo("strace", ["-o", "/dev/null", "true"]) { RedirectStandardError = true })!;
            string said = trial.StandardError.ReadToEnd();
            trial.WaitForExit();
            return trial.ExitCode == 0 ? null : $"strace cannot trace here: {said.Trim()}";
        }
        catch (System.ComponentModel.Win32Exception)
        {
            return "strace is not installed";
        }
    }
}
