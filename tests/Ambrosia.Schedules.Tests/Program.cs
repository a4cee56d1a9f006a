using System.Globalization;
using Ambrosia.Schedules;
using Ambrosia.Schedules.Rewriting;
using Ambrosia.Schedules.Strategies;
using Ambrosia.Schedules.Tests;
using Ambrosia.Schedules.Tests.Plants;
using Ambrosia.Schedules.Tests.Scenarios;

// Repeats a failure, goes through one scenario, or runs a campaign: see Usage.
const string Usage = """
    --scenario X --seed N             one random schedule again, with its last steps
    --scenario X --schedule "1x5,2"   a schedule again, as a failure printed it
    --scenario X --preemptions C      every schedule with at most C preemptions
    --minutes M [--scenario X] [--seed N]   random schedules of all scenarios, from seed N on
    --plant P                         with this fault planted, in its own scenario
    --list                            the scenarios and the plants
    """;

string? Option(string name) => Array.IndexOf(args, name) is >= 0 and var at && at + 1 < args.Length ? args[at + 1] : null;

if (args.Contains("--list"))
{
    foreach (AllScenarios each in AllScenarios.List) Console.WriteLine(each.Name);
    foreach (Plant each in AllPlants.List) Console.WriteLine($"{each.Name} ({each.Scenario})");
    return 0;
}
Plant? plant = Option("--plant") is { } planted ? AllPlants.Named(planted) : null;
string? scenario = plant?.Scenario ?? Option("--scenario");
var copies = new RewrittenAssemblies(typeof(Program).Assembly.Location, plant);
ulong seed = ulong.Parse(Option("--seed") ?? "1", CultureInfo.InvariantCulture);
if (Option("--minutes") is { } minutes)
{
    string[] names = scenario is null ? [.. AllScenarios.List.Select(static each => each.Name)] : [scenario];
    return Campaign.Run(copies, names, TimeSpan.FromMinutes(double.Parse(minutes, CultureInfo.InvariantCulture)), seed);
}
if (scenario is null)
{
    Console.Error.WriteLine(Usage);
    return 2;
}
var explorer = new Explorer(copies.Make(scenario), plant?.Name);
Finding? finding;
if (Option("--preemptions") is { } preemptions)
    finding = explorer.Run(new ExhaustiveStrategy(int.Parse(preemptions, CultureInfo.InvariantCulture)), int.MaxValue);
else if (Option("--schedule") is { } schedule) finding = explorer.Run(new ReplayStrategy(Schedule.Read(schedule)), 1);
else finding = explorer.Run(new RandomStrategy(seed), plant is null || Option("--seed") is not null ? 1 : 100_000);
Console.WriteLine(finding is null ? $"{scenario}: {explorer} held" : explorer.Told(finding));
return finding is null ? 0 : 1;
