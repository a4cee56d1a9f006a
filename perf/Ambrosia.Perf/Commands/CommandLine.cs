using System.CommandLine;
using System.CommandLine.Parsing;

namespace Ambrosia.Perf;

/// <summary>The commands. Each stands in a file of its own with its options.</summary>
internal static class CommandLine
{
    private const int Misuse = 2;

    public static int Run(string[] args)
    {
        var root = new RootCommand("Measures Ambrosia end to end: coordinators and apps as separate processes, as in production.")
        {
            new StreamVerb(args).Command, new PingVerb(args).Command, new RecoverVerb(args).Command, new ReplayVerb(args).Command,
            new FailoverVerb(args).Command, new UpgradeVerb(args).Command,
            new ReconnectVerb(args).Command, new CatalogVerb(args).Command,
            new CheckpointVerb(args).Command, new ScaleVerb(args).Command, new CostVerb(args).Command, new LogVerb(args).Command,
            new SoakVerb(args).Command, new StartVerb(args).Command, new MetricsVerb(args).Command, new AllVerb(args).Command,
        };
        ParseResult parsed = root.Parse(args);
        if (parsed.Errors.Count == 0) return parsed.Invoke(new InvocationConfiguration { ProcessTerminationTimeout = null });
        foreach (ParseError error in parsed.Errors) Console.Error.WriteLine(error.Message);
        Console.Error.WriteLine("COMMAND --help shows the options.");
        return Misuse;
    }
}
