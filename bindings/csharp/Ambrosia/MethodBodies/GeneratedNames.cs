using System.Text.RegularExpressions;

namespace Ambrosia.MethodBodies;

/// <summary>
/// Reads the names that the C# compiler gives to what it makes of a method. Their ordinals of members (the 7 of
/// <c>&lt;Transfer&gt;d__7</c>) move when an unrelated member comes or goes; those inside the method do not.
/// </summary>
internal static partial class GeneratedNames
{
    /// <summary>Says whether the compiler made it. A type of which only the name is made, since it is local to its file, is not.</summary>
    internal static bool IsGenerated(string name) => name.StartsWith('<') && !FileLocal().IsMatch(name);

    /// <summary>
    /// Says whether this is the type that holds the lambdas without captures of all methods of a type, <c>&lt;&gt;c</c>. The one of a
    /// generic method is <c>&lt;&gt;c__7</c>.
    /// </summary>
    internal static bool IsStaticsOfType(string name) => name == "<>c";

    /// <summary>Says whether a type holds lambdas without captures, of all methods of a type or of one generic method.</summary>
    internal static bool IsStatics(string name) => name == "<>c" || name.StartsWith("<>c__", StringComparison.Ordinal) && !IsClosure(name);

    internal static bool IsClosure(string name) => name.StartsWith("<>c__DisplayClass", StringComparison.Ordinal);

    /// <summary>
    /// Returns the name without the ordinals that move, and without the hash of a path that the name of a file's local type holds.
    /// </summary>
    internal static string Plain(string name) => name.Contains('<', StringComparison.Ordinal) ? MovingOrdinals().Replace(name, "") : name;

    /// <summary>Returns what a type is within its method; null when it belongs to no method of its own.</summary>
    internal static string? RoleOfType(string name)
    {
        if (IsClosure(name)) return $"closure{Ordinal(name)}";
        if (IsStatics(name)) return IsStaticsOfType(name) ? null : "statics";
        if (Function().Match(Inner(name)) is { Success: true } inner) return $"{RoleOfFunction(inner)}/machine";
        return MachineOfMethod().IsMatch(name) ? "machine" : null;
    }

    /// <summary>Returns what a function is within its method; null when the compiler did not make it.</summary>
    internal static string? RoleOfFunction(string name) => Function().Match(name) is { Success: true } match ? RoleOfFunction(match) : null;

    private static string RoleOfFunction(Match function) =>
        $"{(function.Groups["local"].Value is { Length: > 0 } local ? local : "lambda")}#{function.Groups["ordinal"].Value}";

    /// <summary>Returns the name within a machine's name: <c>&lt;Foo&gt;b__0</c> for <c>&lt;&lt;Foo&gt;b__0&gt;d</c>.</summary>
    private static string Inner(string name)
    {
        int end = name.LastIndexOf(">d", StringComparison.Ordinal);
        return name.StartsWith("<<", StringComparison.Ordinal) && end > 0 ? name[1..end] : "";
    }

    /// <summary>Returns the last number of a name, which is the one inside the method.</summary>
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

    [GeneratedRegex("^<[^<>]*>F[0-9A-F]{64}__")]
    private static partial Regex FileLocal();

    /// <summary>The ordinals of members in names of closures, machines, lambdas, local functions and caches of delegates.</summary>
    [GeneratedRegex(@"(?<=DisplayClass)\d+(?=_)|(?<=>d__)\d+|(?<=>b__)\d+_(?=\d)|(?<=\|)\d+_(?=\d)|(?<=<>9__)\d+(?=_)|(?<=^<)\d+(?=>__)|(?<=>O__)\d+_(?=\d)|(?<=^<>c__)\d+(?=`|$)|(?<=^<[^<>]*>F)[0-9A-F]{64}(?=__)")]
    private static partial Regex MovingOrdinals();
}
