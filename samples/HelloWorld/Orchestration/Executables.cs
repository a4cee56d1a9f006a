using System.Diagnostics;

namespace HelloWorld.Orchestration;

/// <summary>Finds the programs of a run, which stand beside this one.</summary>
internal static class Executables
{
    private static readonly string s_coordinator = Path.Combine(AppContext.BaseDirectory, "ImmortalCoordinator");

    /// <summary>Returns a coordinator that is ready to be started. Its lines and those of its app can be read.</summary>
    public static Process Coordinator(params ReadOnlySpan<string> arguments)
    {
        var start = new ProcessStartInfo(s_coordinator)
        {
            UseShellExecute = false, RedirectStandardInput = true, RedirectStandardOutput = true, RedirectStandardError = true
        };
        // A process that is killed cannot remove the pipes of its debugger from the temporary folder, and its app inherits this.
        start.Environment["DOTNET_EnableDiagnostics"] = "0";
        foreach (string argument in arguments) start.ArgumentList.Add(argument);
        return new Process { StartInfo = start, EnableRaisingEvents = true };
    }

    /// <summary>Returns the command that runs this program as the app <paramref name="name"/>.</summary>
    public static string[] App(string name) => [Path.Combine(AppContext.BaseDirectory, "HelloWorld"), "app", name];
}
