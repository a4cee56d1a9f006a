// The names that the C# compiler gives to what it makes of a method. Their ordinals of members (the 7 of <Transfer>d__7) move when an
// unrelated member comes or goes; those inside the method do not.
using System.Text.RegularExpressions;

namespace Ambrosia;

internal static partial class GeneratedNames
{
    internal static bool IsGenerated(string name) => name.StartsWith('<');

    /// <summary>
    /// The type that holds lambdas without captures: <c>&lt;&gt;c</c> is one for all methods of a type, <c>&lt;&gt;c__7</c>
    /// one for a generic method.
    /// </summary>
    internal static bool IsStaticsOfType(string name) => name == "<>c";

    internal static bool IsStatics(string name) => name == "<>c" || name.StartsWith("<>c__", StringComparison.Ordinal) && !IsClosure(name);

    internal static bool IsClosure(string name) => name.StartsWith("<>c__DisplayClass", StringComparison.Ordinal);

    /// <summary>Without the ordinals that move.</summary>
    internal static string Plain(string name) => name.Contains('<', StringComparison.Ordinal) ? Moving().Replace(name, "") : name;

    /// <summary>What a type is within its method; null: nothing of a method's own.</summary>
    internal static string? RoleOfType(string name)
    {
        if (IsClosure(name)) return $"closure{Ordinal(name)}";
        if (IsStatics(name)) return IsStaticsOfType(name) ? null : "statics";
        if (Function().Match(Inner(name)) is { Success: true } inner) return $"{RoleOfFunction(inner)}/machine";
        return MachineOfMethod().IsMatch(name) ? "machine" : null;
    }

    /// <summary>What a function is within its method; null: none that the compiler made.</summary>
    internal static string? RoleOfFunction(string name) => Function().Match(name) is { Success: true } match ? RoleOfFunction(match) : null;

    private static string RoleOfFunction(Match function) =>
        $"{(function.Groups["local"].Value is { Length: > 0 } local ? local : "lambda")}#{function.Groups["ordinal"].Value}";

    /// <summary>The name in the machine's name: of <c>&lt;&lt;Foo&gt;b__0&gt;d</c> the <c>&lt;Foo&gt;b__0</c>.</summary>
    private static string Inner(string name)
    {
        int end = name.LastIndexOf(">d", StringComparison.Ordinal);
        return name.StartsWith("<<", StringComparison.Ordinal) && end > 0 ? name[1..end] : "";
    }

    /// <summary>The last number: the one inside the method.</summary>
    private static string Ordinal(string name)
    {
        int tick = name.IndexOf('`', StringComparison.Ordinal);
        string plain = tick < 0 ? name : name[..tick];
        return plain[(plain.LastIndexOf('_') + 1)..];
    }

    [GeneratedRegex(@"^<.+>(?:b__|g__(?<local>[^|]+)\|)(?:\d+_)?(?<ordinal>\d+)(?:`\d+)?$")]
    private static partial Regex Function();

    [GeneratedRegex(@"^<.+>d(?:__\d+)?(?:`\d+)?$")]
    private static partial Regex MachineOfMethod();

    /// <summary>Ordinals of members in names of closures, machines, lambdas, local functions and caches of delegates.</summary>
    [GeneratedRegex(@"(?<=DisplayClass)\d+(?=_)|(?<=>d__)\d+|(?<=>b__)\d+_(?=\d)|(?<=\|)\d+_(?=\d)|(?<=<>9__)\d+(?=_)|(?<=^<)\d+(?=>__)|(?<=>O__)\d+_(?=\d)|(?<=^<>c__)\d+(?=`|$)")]
    private static partial Regex Moving();
}
