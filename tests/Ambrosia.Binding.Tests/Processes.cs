using System.Diagnostics;

namespace Ambrosia.Binding.Tests;

/// <summary>
/// The entry point of this suite, by which a test has something said by processes of its own: the seeds of hash codes, which each process
/// draws anew, must show nowhere.
/// </summary>
internal static class Processes
{
    private static readonly Dictionary<string, Func<string>> s_sayings = new()
    {
        ["travel-order"] = TravelOrderTests.SentByThisProcess,
    };

    private static void Main(string[] arguments)
    {
        foreach (string name in arguments) Console.Write(s_sayings[name]());
    }

    /// <summary>Returns what a new process says under a name.</summary>
    internal static string Said(string name)
    {
        string assembly = typeof(Processes).Assembly.Location;
        var start = new ProcessStartInfo("dotnet",
            ["exec", "--runtimeconfig", Path.ChangeExtension(assembly, ".runtimeconfig.json"), "--depsfile",
                Path.ChangeExtension(assembly, ".deps.json"), assembly, name])
        {
            RedirectStandardOutput = true,
        };
        using Process process = Process.Start(start)!;
        string said = process.StandardOutput.ReadToEnd();
        process.WaitForExit();
        Assert.Equal(0, process.ExitCode);
        return said;
    }
}
