using System.Diagnostics;

namespace HelloWorld.Orchestration;

/// <summary>The programs of a run, found beside this one.</summary>
internal static class Executables
{
    private static readonly string coordinator = Path.Combine(AppContext.BaseDirectory, "ImmortalCoordinator");

    /// <summary>A coordinator that is ready to be started; its lines and those of its app can be read.</summary>
    public static Process Coordinator(params ReadOnlySpan<string> arguments)
    {
        var start = new ProcessStartInfo(coordinator)
        {
            UseShellExecute = false, RedirectStandardInput = true, RedirectStandardOutput = true, RedirectStandardError = true
        };
        foreach (string argument in arguments) start.ArgumentList.Add(argument);
        return new Process { StartInfo = start, EnableRaisingEvents = true };
    }

    /// <summary>The command that runs this program as the app <paramref name="name"/>.</summary>
    public static string[] App(string name) => [Path.Combine(AppContext.BaseDirectory, "HelloWorld"), "app", name];
}
