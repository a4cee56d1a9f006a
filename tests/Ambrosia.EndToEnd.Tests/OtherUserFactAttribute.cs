using System.Diagnostics;

namespace Ambrosia.EndToEnd.Tests;

/// <summary>A test that acts as another user of the machine; skipped, with the reason, where only root could and we are not root.</summary>
[AttributeUsage(AttributeTargets.Method)]
public sealed class OtherUserFactAttribute : FactAttribute
{
    public const int Nobody = 65534;

    private static readonly string? s_whyNot = WhyNot();

    public OtherUserFactAttribute()
    {
        if (s_whyNot is not null) Skip = s_whyNot;
    }

    private static string? WhyNot()
    {
        if (!Environment.IsPrivilegedProcess) return "only root can act as another user";
        try
        {
            using Process trial = Process.Start(
                new ProcessStartInfo("setpriv", ["--reuid", $"{Nobody}", "--clear-groups", "perl", "-MIO::Socket::UNIX", "-e", "1"])
                {
                    RedirectStandardError = true
                })!;
            string said = trial.StandardError.ReadToEnd();
            trial.WaitForExit();
            return trial.ExitCode == 0 ? null : $"no other user can be had here: {said.Trim()}";
        }
        catch (System.ComponentModel.Win32Exception)
        {
            return "setpriv or perl is not installed";
        }
    }
}
