using Ambrosia.Simulation;

// The simulation by hand: docs/testing.md says what can be asked of it.
CampaignOptions? options = CampaignOptions.Read(args);
if (options is null)
{
    Console.Error.WriteLine(CampaignOptions.Usage);
    return 2;
}
return options.Shrinks ? Shrinking.Run(options) : options.First == options.Last ? Campaign.RunOne(options) : Campaign.Run(options);
