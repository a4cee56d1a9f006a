using System.Diagnostics;

namespace Ambrosia.EndToEnd.Tests;

/// <summary>A test that runs a part of the conformance kit; skipped, with the reason, where Python is not there.</summary>
[AttributeUsage(AttributeTargets.Method)]
public sealed class PythonFactAttribute : FactAttribute
{
    private static readonly string? s_whyNot = WhyNot();

    public PythonFactAttribute()
    {
        if (s_whyNot is not null) Skip = s_whyNot;
    }

    private static string? WhyNot()
    {
        try
        {
            using Process trial = Process.Start(
                new ProcessStartInfo("python3", ["-c", "import sys; sys.exit(sys.version_info < (3, 9))"])
                {
                    RedirectStandardError = true
                })!;
            trial.WaitForExit();
            return trial.ExitCode == 0 ? null : "python3 is older than 3.9";
        }
        catch (System.ComponentModel.Win32Exception)
        {
            return "python3 is not installed";
        }
    }
}
