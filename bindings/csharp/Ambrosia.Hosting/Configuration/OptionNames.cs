using System.CommandLine;

namespace Ambrosia.Hosting.Configuration;

/// <summary>
/// Knows the options of a coordinator's command line by the names that a section of the configuration has for them. There is no list of its
/// own: what the command line takes can be configured. Nothing in it changes.
/// </summary>
internal static class OptionNames
{
    /// <summary>The name of the program's immortals, and the form of lines, are the host's; the others ask for help.</summary>
    private static readonly string[] s_hosts = ["instance", "log-format", "help", "version"];

    private static readonly Dictionary<string, Option> s_byKey = ImmortalCoordinator.CommandLine.Parse([], static _ => 0)
        .RootCommandResult.Command.Options
        .Where(static option => option.Name.StartsWith("--", StringComparison.Ordinal) && !s_hosts.Contains(option.Name[2..]))
        .ToDictionary(static option => Key(option.Name), StringComparer.OrdinalIgnoreCase);

    /// <summary>All that can be given, as the section has it.</summary>
    internal static IEnumerable<string> All =>
        s_byKey.Values.Where(static option => !option.Hidden).Select(static option => Key(option.Name));

    /// <summary>Returns the name of an option without the dashes in front; null: there is no such option.</summary>
    /// <param name="key">As the section has it: <c>CheckpointEvery</c>, in whatever case, or <c>checkpoint-every</c>.</param>
    internal static string? Find(string key) =>
        s_byKey.GetValueOrDefault(key.Replace("-", "", StringComparison.Ordinal))?.Name[2..];

    /// <summary>Returns the name that the section has for an option without its dashes in front; null: it has none.</summary>
    internal static string? KeyOf(string name) => Key(name) is var key && s_byKey.ContainsKey(key) ? key : null;

    /// <summary>The option is there or not, and takes no value on a command line.</summary>
    internal static bool IsSwitch(string name) => s_byKey[Key(name)] is Option<bool>;

    /// <summary>A value of the option is a size, or ends with one.</summary>
    internal static bool IsSize(string name) => s_byKey[Key(name)].HelpName?.EndsWith("SIZE", StringComparison.Ordinal) == true;

    private static string Key(string option) => string.Concat(
        option.Split('-', StringSplitOptions.RemoveEmptyEntries).Select(static word => char.ToUpperInvariant(word[0]) + word[1..]));
}
