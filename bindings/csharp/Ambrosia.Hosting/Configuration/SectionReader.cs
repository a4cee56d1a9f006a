using Microsoft.Extensions.Configuration;

namespace Ambrosia.Hosting.Configuration;

/// <summary>
/// Reads the section of the configuration into options. Entries that nobody knows are faults: one that is misspelt would have no effect. It
/// keeps nothing.
/// </summary>
internal static class SectionReader
{
    internal const string Section = "Ambrosia";

    private const string ImmortalsKey = "Immortals";

    /// <summary>Returns where the options of one immortal stand.</summary>
    internal static string PathOf(string instance) => $"{Section}:{ImmortalsKey}:{instance}";

    internal static void Read(IConfigurationSection section, AmbrosiaOptions to)
    {
        if (section.Value is { Length: > 0 } value)
            to.Faults.Add($"'{Section}' is a section, and has the value '{value}'; give its entries, like {Section}:Log");
        foreach (IConfigurationSection entry in section.GetChildren())
        {
            if (entry.Key.Equals(ImmortalsKey, StringComparison.OrdinalIgnoreCase))
            {
                foreach (IConfigurationSection immortal in entry.GetChildren())
                    ReadOne(immortal, to.Immortal(immortal.Key).Values, to.Faults);
            }
            else if (entry.Key.Equals(nameof(AmbrosiaOptions.DegradedBehind), StringComparison.OrdinalIgnoreCase)) ReadDegraded(entry, to);
            else ReadEntry(entry, to.Values, to.Faults);
        }
    }

    private static void ReadOne(IConfigurationSection immortal, Dictionary<string, string> values, List<string> faults)
    {
        foreach (IConfigurationSection entry in immortal.GetChildren())
        {
            if (OptionNames.Find(entry.Key) is "log" or "catalog")
                faults.Add($"'{entry.Path}' is for all immortals; give it as {Section}:{entry.Key}");
            else ReadEntry(entry, values, faults);
        }
    }

    private static void ReadEntry(IConfigurationSection entry, Dictionary<string, string> values, List<string> faults)
    {
        if (OptionNames.Find(entry.Key) is not { } option)
        {
            faults.Add($"'{entry.Path}' is no option; the section {Section} has {string.Join(", ", OptionNames.All.Order(StringComparer.Ordinal))}, "
                + $"{nameof(AmbrosiaOptions.DegradedBehind)} and {ImmortalsKey}");
        }
        else if (entry.Value is { } value) values[option] = value;
        else if (entry.GetChildren().Any()) faults.Add($"'{entry.Path}' has entries below it, and is one value");
    }

    private static void ReadDegraded(IConfigurationSection entry, AmbrosiaOptions to)
    {
        if (ImmortalCoordinator.OptionValues.TryParseTime(entry.Value ?? "", out TimeSpan time)) to.DegradedBehind = time;
        else to.Faults.Add($"'{entry.Value}' of {entry.Path} is no time; write it like 10s or 5m");
    }
}
