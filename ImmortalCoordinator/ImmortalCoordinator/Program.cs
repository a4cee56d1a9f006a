using System.CommandLine;
using System.CommandLine.Parsing;
using Ambrosia.Coordinator;

namespace ImmortalCoordinator;

/// <summary>The executable: the command line and nothing else. Bad input ends with 2 before anything is made.</summary>
internal static class Program
{
    private static int Main(string[] args)
    {
        ParseResult parsed = CommandLine.Parse(args);
        if (parsed.Errors.Count == 0) return parsed.Invoke();
        foreach (ParseError error in parsed.Errors) Console.Error.WriteLine(error.Message);
        Console.Error.WriteLine("'ImmortalCoordinator --help' shows all options.");
        return ExitCodes.Misuse;
    }
}
