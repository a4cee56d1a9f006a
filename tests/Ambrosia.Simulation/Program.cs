using Ambrosia.Simulation;
using Ambrosia.TestKit;

// Repeats one seed of the simulation: dotnet run --project tests/Ambrosia.Simulation -- --seed N
if (args is ["--seed", var text] && ulong.TryParse(text, out ulong seed))
{
    var world = new World(seed, new Faults());
    world.Run();
    Console.WriteLine($"seed {seed}: holds; {world.Crashes} crashes, trace {world.TraceHash:x16}, steps {world.StepHash:x16}");
    return 0;
}
if (args is ["--seeds", var range, ..] && range.Split('-') is [var from, var to])
{
    int crashes = 0, stops = 0;
    ulong triedAgain = 0;
    long acknowledgements = 0, trims = 0, sends = 0, deliveries = 0, promotions = 0, replaced = 0, results = 0, repeated = 0, fired = 0;
    ulong first = ulong.Parse(from);
    var sights = Weather.Sights.ToDictionary(static sight => sight, static _ => 0);
    var steps = new SortedDictionary<ulong, ulong>();
    Worlds.Run(first, checked((int)(ulong.Parse(to) - first + 1)), static _ => new Faults(), world =>
    {
        steps.Add(world.Seed, world.StepHash);
        crashes += world.Crashes;
        foreach ((string sight, int times) in world.Sights) sights[sight] += times;
        acknowledgements += world.Oracles.Acknowledgements;
        trims += world.Oracles.Trims;
        sends += world.Oracles.Sends;
        deliveries += world.Oracles.Deliveries;
        promotions += world.Oracles.Promotions;
        replaced += world.Oracles.Replaced;
        results += world.Oracles.TimersAndTasks.Results;
        repeated += world.Oracles.TimersAndTasks.Repeated;
        fired += world.Oracles.TimersAndTasks.Fired;
        stops += world.Stops;
        triedAgain += world.TriedAgain;
    });
    string judged =
        $"{acknowledgements} acknowledgements (I2), {trims} trims (I3) and {sends} sends (I4), {deliveries} deliveries (I12, F3), {results} results of tasks, {repeated} of them not the first (I17), {fired} timers";
    Console.WriteLine(
        $"seeds {range}: all hold; {crashes} crashes, kills, power losses and cut links; the oracles judged {judged}; {promotions} secondaries promoted (F2), {replaced} primaries replaced; {stops} apps stopped by a failing handler for good, {triedAgain} messages tried again");
    Console.WriteLine($"met: {string.Join(", ", sights.Select(static sight => $"{sight.Key} {sight.Value}"))}");
    // One line for all of them: two builds that print the same have taken the same steps in each world.
    var all = new SimulationTrace();
    foreach (ulong hash in steps.Values) all.AddStep(hash);
    Console.WriteLine($"steps {all.StepHash:x16}");
    if (args.Contains("--steps")) foreach ((ulong of, ulong hash) in steps) Console.WriteLine($"seed {of}: steps {hash:x16}");
    return 0;
}
Console.Error.WriteLine("give --seed N, or --seeds N-M");
return 2;
