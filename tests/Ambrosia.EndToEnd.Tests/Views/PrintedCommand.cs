using System.Diagnostics;
using System.Text.RegularExpressions;

namespace Ambrosia.EndToEnd.Tests;

/// <summary>A line of a coordinator that names a message, with the command in it that stops just before that message.</summary>
internal sealed partial record PrintedCommand(string Line, string Place, string Command)
{
    /// <summary>Waits for the line of the coordinator that was started last.</summary>
    public static PrintedCommand Of(Replica replica, string beginning)
    {
        string line = replica.AwaitLine("the message", line => line.StartsWith(beginning, StringComparison.Ordinal));
        Match printed = Printed().Match(line);
        Assert.True(printed.Success, line);
        return new PrintedCommand(line, printed.Groups["place"].Value, printed.Groups["command"].Value);
    }

    /// <summary>The same command with another position.</summary>
    public PrintedCommand With(string position) =>
        this with { Command = Command.Replace($"--until {Place} ", $"--until {position} ", StringComparison.Ordinal) };

    /// <summary>Runs the very command, as a user who copies it into a shell, until it has stopped; returns where that is.</summary>
    public string Stop(Replica of)
    {
        using var process = Process.Start(
            Executables.StartOf("sh", ["-c", $"exec {Command}"], of.Settings, Path.GetDirectoryName(of.LogDirectory)!))!;
        process.ErrorDataReceived += static (_, _) => { };
        process.BeginErrorReadLine();
        string? stop;
        do stop = process.StandardOutput.ReadLine();
        while (stop is not null && !stop.StartsWith("stopped ", StringComparison.Ordinal));
        Signals.Interrupt(process.Id);
        process.StandardOutput.ReadToEnd();
        process.WaitForExit();
        Assert.True(process.ExitCode == 0, $"{process.ExitCode}: {Command}");
        return stop ?? "";
    }

    [GeneratedRegex("; stop just before it: (?<command>.* --until (?<place>[0-9:]+) -- .*)$")]
    private static partial Regex Printed();
}
