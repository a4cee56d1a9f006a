using System.CommandLine;
using System.CommandLine.Parsing;
using System.Runtime.InteropServices;
using Ambrosia.Coordinator.Hosting;
using Ambrosia.Coordinator.Replica;
using Ambrosia.Inspection.Incidents;
using Ambrosia.Log.Files;

namespace ImmortalCoordinator;

/// <summary>
/// The executable has the command line and nothing else. A wrong command line ends with exit code 2 before anything is made.
/// </summary>
internal static class Program
{
    /// <summary>So many characters go into one write: more than an event with its fields has.</summary>
    private const int LineCharsMax = 1 << 16;

    internal static int Main(string[] args)
    {
        if (args is [DebugCommandLine.Verb, .. var rest]) return DebugCommandLine.Run(rest);
        ParseResult parsed = CommandLine.Parse(args, Run);
        if (parsed.Errors.Count == 0) return parsed.Invoke();
        foreach (ParseError error in parsed.Errors) StandardLines.WriteError(error.Message);
        StandardLines.WriteError("'ImmortalCoordinator --help' shows all options.");
        return ExitCodes.Misuse;
    }

    private static int Run(CoordinatorOptions options)
    {
        using var stop = new CancellationTokenSource();
        using var signals = new StopSignals(stop);
        // The host flushes each line itself, and needs nothing of what Console does for a terminal. Nobody disposes of it: that would wait
        // for a reader that does not read.
        // A line is written at once: the app may write to the same file, and would come between its parts.
        var output = new StreamWriter(Console.OpenStandardOutput(), bufferSize: LineCharsMax);
        var files = new PosixFileSystem();
        var incidents = new IncidentFinder(options.LogDirectory, options.App, files, place => DebugCommandLine.At(options, place));
        using var host = new CoordinatorHost(options, files, output) { ExplainsIncidents = incidents.Explain };
        try
        {
            return host.Run(stop.Token);
        }
        catch (MisuseException misuse)
        {
            StandardLines.WriteError(misuse.Message);
            return ExitCodes.Misuse;
        }
    }
}
