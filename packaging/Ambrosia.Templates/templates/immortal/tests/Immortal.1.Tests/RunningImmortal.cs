using System.Diagnostics;

namespace Immortal._1.Tests;

/// <summary>Runs an immortal with its coordinator in a process of its own. What is still running at the end is killed.</summary>
internal sealed class RunningImmortal : IDisposable
{
    private readonly Process _process;

    /// <param name="program">The name of its project.</param>
    /// <param name="log">The directory of its log, which also names the instance. The catalog lies beside it.</param>
    public RunningImmortal(string program, string log)
    {
        var start = new ProcessStartInfo(Environment.GetEnvironmentVariable("DOTNET_HOST_PATH") ?? "dotnet");
        start.ArgumentList.Add(Path.Combine(AppContext.BaseDirectory, $"{program}.dll"));
        start.ArgumentList.Add("--log");
        start.ArgumentList.Add(log);
        _process = Process.Start(start)!;
    }

    /// <summary>Kills the process at this instant, as <c>kill -9</c> or a failure of the machine does.</summary>
    public void Kill()
    {
        _process.Kill();
        _process.WaitForExit();
    }

    public void Dispose()
    {
        if (!_process.HasExited) Kill();
        _process.Dispose();
    }
}
