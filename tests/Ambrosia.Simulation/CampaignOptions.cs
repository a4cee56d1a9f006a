using System.Globalization;

namespace Ambrosia.Simulation;

/// <summary>What is asked of the simulation on its command line.</summary>
internal sealed record CampaignOptions
{
    public const string Usage =
        "give --seed N or --seeds N-M, and with them as needed: --workers N, --off KIND,KIND (kinds of faults that no world has), --without N,N-M or --only N,N-M (single faults, by their numbers), --with KIND (that every world has), --keep-going (all that fail, and not the lowest alone), --shrink (a seed that fails), --faults or --steps (print them)";

    public ulong First { get; init; }

    public ulong Last { get; init; }

    /// <summary>Worlds that run beside each other.</summary>
    public int Workers { get; init; } = Environment.ProcessorCount;

    public IReadOnlyList<string> Off { get; init; } = [];

    public FaultChoice? Chosen { get; init; }

    public bool Shrinks { get; init; }

    public IReadOnlyList<string> With { get; init; } = [];

    /// <summary>Worlds that fail are printed as they come, and the campaign goes on.</summary>
    public bool KeepsGoing { get; init; }

    public bool PrintsFaults { get; init; }

    public bool PrintsSteps { get; init; }

    /// <summary>What the worlds suffer.</summary>
    public Faults Faults => With.Aggregate(Off.Aggregate(new Faults { Chosen = Chosen }, FaultKinds.Without), FaultKinds.With);

    /// <summary>Null: it makes no sense.</summary>
    public static CampaignOptions? Read(string[] args)
    {
        var options = new CampaignOptions();
        for (int i = 0; i < args.Length; i++)
        {
            string? value = i + 1 < args.Length ? args[i + 1] : null;
            switch (args[i])
            {
                case "--seed" when Number(value) is { } seed: options = options with { First = seed, Last = seed }; i++; break;
                case "--seeds" when value?.Split('-') is [var from, var to] && Number(from) is { } first && Number(to) is { } last:
                    options = options with { First = first, Last = last };
                    i++;
                    break;
                case "--workers" when Number(value) is { } workers and > 0: options = options with { Workers = (int)workers }; i++; break;
                case "--off" when value is not null && value.Split(',').All(FaultKinds.All.Contains):
                    options = options with { Off = value.Split(',') };
                    i++;
                    break;
                case "--with" when value is not null && value.Split(',').All(FaultKinds.Forced.Contains):
                    options = options with { With = value.Split(',') };
                    i++;
                    break;
                case "--without" when value is not null:
                    options = options with { Chosen = FaultChoice.Without(FaultChoice.Read(value)) };
                    i++;
                    break;
                case "--only" when value is not null:
                    options = options with { Chosen = FaultChoice.Only(FaultChoice.Read(value)) };
                    i++;
                    break;
                case "--keep-going": options = options with { KeepsGoing = true }; break;
                case "--shrink": options = options with { Shrinks = true }; break;
                case "--faults": options = options with { PrintsFaults = true }; break;
                case "--steps": options = options with { PrintsSteps = true }; break;
                default: return null;
            }
        }
        return options is { First: > 0 } && options.Last >= options.First && (!options.Shrinks || options.First == options.Last)
            ? options : null;
    }

    private static ulong? Number(string? text) =>
        ulong.TryParse(text, NumberStyles.None, CultureInfo.InvariantCulture, out ulong number) ? number : null;
}
