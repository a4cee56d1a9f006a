using System.Diagnostics;
using System.Runtime.InteropServices;
using Ambrosia.Protocol.Locking;

namespace Ambrosia.EndToEnd.Tests;

/// <summary>Where the programs are, and the environment in which they start.</summary>
internal static class Executables
{
    public const string AppName = "Ambrosia.EndToEnd.App";

    /// <summary>Beside the tests, or another one, such as a published one.</summary>
    public static string Coordinator { get; } = Environment.GetEnvironmentVariable("AMBROSIA_TEST_COORDINATOR")
        ?? Beside("ImmortalCoordinator");

    /// <summary>In its own project's output, of the same configuration and framework as the tests'.</summary>
    public static string Ambrosia { get; } = Path.Combine(
        AppContext.BaseDirectory.Replace(Path.Combine("tests", "Ambrosia.EndToEnd.Tests"), Path.Combine("tools", "ambrosia"),
            StringComparison.Ordinal), "ambrosia");

    /// <summary>The coordinator that has Azure's store, likewise.</summary>
    public static string CoordinatorWithAzure { get; } = Path.Combine(
        AppContext.BaseDirectory.Replace(Path.Combine("tests", "Ambrosia.EndToEnd.Tests"), Path.Combine("stores", "ImmortalCoordinator.Azure"),
            StringComparison.Ordinal), "ImmortalCoordinator.Azure");

    public static string App { get; } = Beside(AppName);

    /// <summary>An app whose code is not optimised, so that a debugger takes it for its user's.</summary>
    public static string DebuggedApp { get; } = Beside("Ambrosia.Debugged.App");

    /// <summary>The next build of that app, in its own project's output.</summary>
    public static string NextApp { get; } = Path.Combine(
        AppContext.BaseDirectory.Replace("Ambrosia.EndToEnd.Tests", "Ambrosia.EndToEnd.NextApp", StringComparison.Ordinal), AppName);

    /// <summary>Another build of that app, which has both versions of the account, likewise.</summary>
    public static string BothApp { get; } = Path.Combine(
        AppContext.BaseDirectory.Replace("Ambrosia.EndToEnd.Tests", "Ambrosia.EndToEnd.BothApp", StringComparison.Ordinal), AppName);

    private static string Beside(string name) => Path.Combine(AppContext.BaseDirectory, OperatingSystem.IsWindows() ? name + ".exe" : name);

    /// <summary>A process that is not started yet, with both outputs redirected and an environment of its own.</summary>
    public static ProcessStartInfo StartOf(
        string program, IEnumerable<string> arguments, IReadOnlyDictionary<string, string> settings, string directory)
    {
        var start = new ProcessStartInfo(program)
        {
            UseShellExecute = false, RedirectStandardOutput = true, RedirectStandardError = true, WorkingDirectory = directory
        };
        foreach (string argument in arguments) start.ArgumentList.Add(argument);
        foreach (string name in start.Environment.Keys.Where(static n => n.StartsWith("AMBROSIA_", StringComparison.Ordinal)).ToArray())
            start.Environment.Remove(name);
        start.Environment[LockChecks.Variable] = "1";
        start.Environment["DOTNET_ROOT"] = Path.GetFullPath(Path.Combine(RuntimeEnvironment.GetRuntimeDirectory(), "../../.."));
        // A killed process cannot remove its debugger pipes from the temporary folder.
        start.Environment["DOTNET_EnableDiagnostics"] = "0";
        // They live for a second: what would be compiled better is compiled too late. (Milliseconds, in hexadecimal.)
        start.Environment["DOTNET_TieredPGO"] = "0";
        start.Environment["DOTNET_TC_CallCountingDelayMs"] = "BB8";
        foreach ((string name, string value) in settings) start.Environment[name] = value;
        return start;
    }
}
