using System.Diagnostics;

namespace Ambrosia.Suspension.Tests;

/// <summary>One run of Ambrosia.Suspension.App in a process of its own.</summary>
internal static class ShapeProcess
{
    private static readonly TimeSpan s_patience = TimeSpan.FromMinutes(3);

    /// <returns>Its lines: <c>SHAPE ORDER STOP outcome</c>.</returns>
    public static (string Shape, string Outcome)[] Run(string verb, Variant variant, string directory, bool acceptSource = false)
    {
        Directory.CreateDirectory(directory);
        string output = Run("Ambrosia.Suspension.App.dll", [verb, variant.File, "Demo.Shapes", directory], acceptSource);
        return [
            .. output.Split('\n', StringSplitOptions.RemoveEmptyEntries).Select(static line => line.Split(' ', 4))
                .Select(static words => (words[0], words[3]))];
    }

    /// <summary>The step of a build that writes the file of suspendable bodies.</summary>
    public static void RunContractFile(Variant variant, string suspendFile) =>
        Run("Ambrosia.ContractFile.dll", [variant.File, Path.ChangeExtension(variant.File, ".contract.json"), suspendFile], false);

    /// <summary>The command 'ambrosia', in its own project's output: its name is the binding's but for the case.</summary>
    public static (int Code, string Said) RunTool(string[] arguments)
    {
        string place = AppContext.BaseDirectory.Replace(Path.Combine("tests", "Ambrosia.Suspension.Tests"),
            Path.Combine("tools", "ambrosia"), StringComparison.Ordinal);
        (int code, string output, string error) = Start(Path.Combine(place, "ambrosia.dll"), arguments, false);
        return code is 0 or 1 ? (code, output)
            : throw new InvalidOperationException($"ambrosia {string.Join(' ', arguments)} ended with {code}: {error}");
    }

    /// <summary>Looks at a log with a build, and ends at once; returns the exit code and all that was said.</summary>
    public static (int Code, string Said) Debug(string log, UpgradeTests.Build build)
    {
        string commands = Path.Combine(Path.GetDirectoryName(log)!, "commands");
        File.WriteAllText(commands, "where\n");
        (int code, string output, string error) = Start("ImmortalCoordinator.dll",
            ["debug", "--log", log, "--commands", commands, "--", "dotnet", Path.Combine(AppContext.BaseDirectory, "Ambrosia.Suspension.App.dll"),
                "run", build.File, "Demo.Waiting"], false);
        return (code, output + error);
    }

    private static string Run(string program, string[] arguments, bool acceptSource)
    {
        (int code, string output, string error) = Start(program, arguments, acceptSource);
        return code == 0 ? output
            : throw new InvalidOperationException($"{program} {string.Join(' ', arguments)} ended with {code}: {error}");
    }

    private static (int Code, string Output, string Error) Start(string program, string[] arguments, bool acceptSource)
    {
        var start = new ProcessStartInfo("dotnet", [Path.Combine(AppContext.BaseDirectory, program), .. arguments])
        {
            RedirectStandardOutput = true,
            RedirectStandardError = true,
        };
        if (acceptSource) start.Environment["AMBROSIA_ACCEPT_SOURCE"] = "1";
        using Process process = Process.Start(start)!;
        Task<string> output = process.StandardOutput.ReadToEndAsync(), error = process.StandardError.ReadToEndAsync();
        if (!process.WaitForExit(s_patience))
        {
            process.Kill();
            throw new TimeoutException($"{program} took more than {s_patience}");
        }
        return (process.ExitCode, output.Result, error.Result);
    }
}
