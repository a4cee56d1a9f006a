namespace Ambrosia.Hosting;

/// <summary>
/// Says how the immortals of a host run: where their logs are, and what holds for all of them unless one has a value of its own. The
/// section <c>Ambrosia</c> of the configuration has the same names.
/// </summary>
public sealed class AmbrosiaOptions : ImmortalOptions
{
    /// <summary>The directory that holds the logs, each under its immortal's name, and the catalog unless that is elsewhere.</summary>
    public string? Log { get => this["log"]; set => this["log"] = value; }

    /// <summary>The place of the catalog: a directory, or a place in a store.</summary>
    public string? Catalog { get => this["catalog"]; set => this["catalog"] = value; }

    /// <summary>
    /// Behind this age of the oldest durable record that is not executed the health checks say <c>Degraded</c>; 10 s unless it is given.
    /// </summary>
    public TimeSpan DegradedBehind { get; set; } = TimeSpan.FromSeconds(10);

    /// <summary>The options of single immortals, by their names.</summary>
    internal SortedDictionary<string, ImmortalOptions> Own { get; } = new(StringComparer.Ordinal);

    /// <summary>The sentences that say what is wrong with the section of the configuration.</summary>
    internal List<string> Faults { get; } = [];

    /// <summary>Returns the options of one immortal, which hold before those for all.</summary>
    public ImmortalOptions Immortal(string name)
    {
        ArgumentNullException.ThrowIfNull(name);
        return Own.TryGetValue(name, out ImmortalOptions? own) ? own : Own[name] = new ImmortalOptions();
    }
}
