using System.Text.RegularExpressions;

namespace Ambrosia.Hosting.Configuration;

/// <summary>
/// Says in the words of the configuration what a coordinator says in those of its command line, which a program with a host does not have.
/// It keeps nothing.
/// </summary>
internal static partial class SettingWords
{
    /// <summary>Returns a text in which options have the names that the section for all immortals has for them.</summary>
    internal static string Of(string text) => Of(text, []);

    /// <param name="own">The options, without dashes, that the section of one immortal gives.</param>
    /// <param name="instance">That immortal.</param>
    internal static string Of(string text, IEnumerable<string> own, string instance = "") => Options().Replace(text, found =>
        OptionNames.KeyOf(found.Groups[1].Value) is not { } key ? found.Value
        : own.Contains(found.Groups[1].Value) ? $"{SectionReader.PathOf(instance)}:{key}"
        : $"{SectionReader.Section}:{key}");

    [GeneratedRegex("--([a-z]+(-[a-z]+)*)")]
    private static partial Regex Options();
}
