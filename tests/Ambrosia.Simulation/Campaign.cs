using Ambrosia.TestKit;

namespace Ambrosia.Simulation;

/// <summary>Runs the worlds of many seeds, or of one, and prints what they met.</summary>
internal static class Campaign
{
    public static int RunOne(CampaignOptions options)
    {
        var world = new World(options.First, options.Faults);
        try
        {
            world.Run();
        }
        finally
        {
            if (options.PrintsFaults)
                foreach ((string fault, int index) in world.Strikes.All.Select(static (fault, index) => (fault, index)))
                    Console.WriteLine($"{index + 1}: {fault}{(options.Chosen?.Has(index + 1) == false ? " (left out)" : "")}");
        }
        Console.WriteLine(
            $"seed {options.First}: holds; {world.Crashes} crashes, at rest {world.Rested.TotalSeconds:F1} s after the last fault, trace {world.TraceHash:x16}, steps {world.StepHash:x16}");
        return 0;
    }

    public static int Run(CampaignOptions options)
    {
        var total = new CampaignTotal();
        int failures = 0;
        void Failed(ulong seed, Exception failure)
        {
            failures++;
            Console.WriteLine(failure.Message.Split('\n')[0]);
        }
        Worlds.Run(options.First, checked((int)(options.Last - options.First + 1)), _ => options.Faults, total.Add, options.Workers,
            options.KeepsGoing ? Failed : null);
        if (failures > 0) Console.WriteLine($"{failures} of {options.Last - options.First + 1} worlds failed; of the others:");
        Console.WriteLine($"seeds {options.First}-{options.Last}: {total}");
        Console.WriteLine($"met: {string.Join(", ", Sights.All.Select(sight => $"{sight} {total.Sights[sight]}"))}");
        string[] never = [.. Sights.All.Where(sight => total.Sights[sight] == 0)];
        if (never.Length > 0) Console.WriteLine($"never met: {string.Join(", ", never)}");
        // One line for all of them: two builds that print the same have taken the same steps in each world.
        var all = new SimulationTrace();
        foreach (ulong hash in total.Steps.Values) all.AddStep(hash);
        Console.WriteLine($"steps {all.StepHash:x16}");
        if (options.PrintsSteps) foreach ((ulong of, ulong hash) in total.Steps) Console.WriteLine($"seed {of}: steps {hash:x16}");
        return failures > 0 || never.Any(sight => total.Steps.Count >= Sights.WorldsFor(sight)) ? 1 : 0;
    }
}

/// <summary>What the worlds of a campaign met together.</summary>
internal sealed class CampaignTotal
{
    private int _crashes, _stops;
    private ulong _triedAgain;
    private long _acknowledgements, _trims, _sends, _deliveries, _promotions, _replaced, _results, _repeated, _fired;
    private TimeSpan _restedMax;

    public SortedDictionary<ulong, ulong> Steps { get; } = [];

    /// <summary>In how many worlds each was met.</summary>
    public Dictionary<string, int> Sights { get; } = Simulation.Sights.All.ToDictionary(static sight => sight, static _ => 0);

    public void Add(World world)
    {
        Steps.Add(world.Seed, world.StepHash);
        _crashes += world.Crashes;
        foreach (string sight in world.Sights.Keys) Sights[sight]++;
        _acknowledgements += world.Oracles.Acknowledgements;
        _trims += world.Oracles.Trims;
        _sends += world.Oracles.Sends;
        _deliveries += world.Oracles.Deliveries;
        _promotions += world.Oracles.Promotions;
        _replaced += world.Oracles.Replaced;
        _results += world.Oracles.TimersAndTasks.Results;
        _repeated += world.Oracles.TimersAndTasks.Repeated;
        _fired += world.Oracles.TimersAndTasks.Fired;
        _stops += world.Stops;
        _triedAgain += world.TriedAgain;
        if (world.Rested > _restedMax) _restedMax = world.Rested;
    }

    public override string ToString()
    {
        string judged =
            $"{_acknowledgements} acknowledgements (I2), {_trims} trims (I3) and {_sends} sends (I4), {_deliveries} deliveries (I12, F3), {_results} results of tasks, {_repeated} of them not the first (I17), {_fired} timers";
        return
            $"all hold; {_crashes} crashes, kills, power losses and cut links; the oracles judged {judged}; {_promotions} secondaries promoted (F2), {_replaced} primaries replaced; {_stops} apps stopped by a failing handler for good, {_triedAgain} messages tried again; at rest at most {_restedMax.TotalSeconds:F0} s after the last fault";
    }
}
