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
        .ToDictionary(static option => KeyOf(option.Name), StringComparer.OrdinalIgnoreCase);

    /// <summary>All that can be given, as the section has it.</summary>
    internal static IEnumerable<string> All =>
        s_byKey.Values.Where(static option => !option.Hidden).Select(static option => KeyOf(option.Name));

    /// <summary>Returns the name of an option without the dashes in front; null: there is no such option.</summary>
    /// <param name="key">As the section has it: <c>CheckpointEvery</c>, in whatever case, or <c>checkpoint-every</c>.</param>
    internal static string? Find(string key) =>
        s_byKey.GetValueOrDefault(key.Replace("-", "", StringComparison.Ordinal))?.Name[2..];

    /// <summary>The option is there or not, and takes no value on a command line.</summary>
    internal static bool IsSwitch(string name) => s_byKey[KeyOf(name)] is Option<bool>;

    /// <summary>A value of the option is a size, or ends with one.</summary>
    internal static bool IsSize(string name) => s_byKey[KeyOf(name)].HelpName?.EndsWith("SIZE", StringComparison.Ordinal) == true;

    private static string KeyOf(string option) => string.Concat(
        option.Split('-', StringSplitOptions.RemoveEmptyEntries).Select(static word => char.ToUpperInvariant(word[0]) + word[1..]));
}
