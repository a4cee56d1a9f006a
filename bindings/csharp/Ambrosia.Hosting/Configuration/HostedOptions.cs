using System.CommandLine;
using Ambrosia.Coordinator.Replica;
using Ambrosia.Protocol;
using Ambrosia.Session;

namespace Ambrosia.Hosting.Configuration;

/// <summary>
/// The coordinators' options that a host's options come to, or the sentences that say what is wrong with them. They are parsed by the same
/// functions as a command line, before anything is made.
/// </summary>
/// <param name="Each">In the order of the immortals; empty where something is wrong.</param>
internal sealed record HostedOptions(IReadOnlyList<CoordinatorOptions> Each, IReadOnlyList<string> Faults)
{
    private const string DefaultDrain = "20s";

    /// <summary>Where no log is needed, its option is given all the same, so that the others can be checked.</summary>
    private const string NoLog = ".";

    /// <param name="names">Of the immortals that the program adds.</param>
    /// <param name="hasCoordinators">This process runs the coordinators, so that it needs a log.</param>
    internal static HostedOptions Of(AmbrosiaOptions options, IReadOnlyList<string> names, bool hasCoordinators)
    {
        List<string> faults = [.. options.Faults, .. names.Select(WhatIsWrong).OfType<string>()];
        faults.AddRange(names.GroupBy(static name => name).Where(static same => same.Count() > 1)
            .Select(static same => $"'{same.Key}' is the name of {same.Count()} immortals; give each a name of its own"));
        faults.AddRange(options.Own.Keys.Except(names).Select(name =>
            $"there is no immortal '{name}' to have options; the program adds {(names.Count == 0 ? "none" : string.Join(", ", names))}"));
        if (hasCoordinators && names.Count > 0 && !options.Values.ContainsKey("log"))
            faults.Add($"nothing says where the logs are; give {SectionReader.Section}:Log, the directory that holds them");
        if (faults.Count > 0) return new HostedOptions([], faults);
        var each = new List<CoordinatorOptions>();
        foreach (string name in names)
        {
            var own = new List<string>();
            Parse(options, name, names.Count, hasCoordinators, each, own);
            faults.AddRange(own.Select(fault => SettingWords.Of(fault, OwnOf(options, name).Keys, name)));
        }
        return new HostedOptions(faults.Count == 0 ? each : [], [.. faults.Distinct()]);
    }

    /// <summary>Says why an instance cannot have this name; null: it can.</summary>
    internal static string? WhatIsWrong(string name) => Names.IsValid(name) ? null
        : $"'{name}' is no name for an instance: 1 to 63 letters, digits, '_' or '-', beginning with a letter or digit";

    private static Dictionary<string, string> OwnOf(AmbrosiaOptions options, string name) =>
        options.Own.GetValueOrDefault(name)?.Values ?? [];

    private static void Parse(
        AmbrosiaOptions options, string name, int immortals, bool hasCoordinators, List<CoordinatorOptions> to, List<string> faults)
    {
        var values = new Dictionary<string, string>(options.Values);
        foreach ((string option, string value) in OwnOf(options, name)) values[option] = value;
        values.TryAdd("drain-within", DefaultDrain);
        if (values.TryGetValue("log", out string? log) && log.Length > 0) values["log"] = Path.Combine(log, name);
        else if (log is null && !hasCoordinators) values["log"] = Path.Combine(NoLog, name);
        CoordinatorOptions? asked = null;
        ParseResult parsed = ImmortalCoordinator.CommandLine.Parse(
            ArgumentsOf(values, faults), given => { asked = given; return ExitCodes.Ok; });
        faults.AddRange(parsed.Errors.Select(static error => error.Message));
        if (parsed.Errors.Count > 0) return;
        parsed.Invoke();
        if (HostArguments.WhatIsWrong(asked!, name, immortals) is { } wrong) faults.Add(wrong);
        else to.Add(asked!);
    }

    private static string[] ArgumentsOf(Dictionary<string, string> values, List<string> faults)
    {
        var arguments = new List<string>();
        foreach ((string option, string value) in values)
        {
            if (OptionNames.IsSize(option) && HasNoUnit(value))
                faults.Add($"'{value}' of --{option} has no unit, and would be bytes; write it like 64K, 64M or 1G");
            else if (!OptionNames.IsSwitch(option)) arguments.AddRange(value.Length == 0 ? [$"--{option}", value] : [$"--{option}={value}"]);
            else if (!bool.TryParse(value, out bool isOn)) faults.Add($"'{value}' of --{option} is neither true nor false");
            else if (isOn) arguments.Add($"--{option}");
        }
        return [.. arguments];
    }

    /// <summary>
    /// On a command line a number alone is so many bytes. In a file of settings, where other numbers stand beside it, it is a mistake.
    /// </summary>
    private static bool HasNoUnit(string value) => value.Split(',')[^1] is { Length: > 0 } size && size != "0" && size.All(char.IsAsciiDigit);
}

/// <summary>Says which immortal the program has added to the host, and under which name.</summary>
/// <param name="Former">Its class of the version before, for the form in which a coordinator starts the program; null: it has none.</param>
internal sealed record AddedImmortal(string Name, ImmortalDefinition Definition, Func<FormerVersion>? Former = null);
