namespace Ambrosia.MethodBodies;

/// <summary>
/// A row describes a method of an app with all that the compiler made of it: state machines, closures, lambdas, local functions.
/// </summary>
/// <param name="Id">Survives every recompile: <c>Namespace.Type.Method&lt;!!0&gt;(parameter types):return type</c>.</param>
/// <param name="Signature">The method as people write it in C#.</param>
/// <param name="Il">Hash of the method's IL and of everything lexically inside it, free of what other members of the type change.</param>
/// <param name="SourceHash">The generator's hash of the tokens and what they mean; empty: unknown.</param>
internal sealed record MethodBodyRow(
    string Id, string Signature, string Il, string SourceHash, IReadOnlyList<OwnedType> Types, IReadOnlyList<OwnedFunction> Functions)
{
    /// <summary>
    /// The id of the method whose body this one was in an earlier build (<c>[Formerly]</c>); null: none. Its hashes are those
    /// that it had under that name.
    /// </summary>
    internal string? FormerOf { get; init; }
}

/// <summary>A type that the compiler made for a method. It belongs to that method's row.</summary>
/// <param name="Name">Full name in this build.</param>
/// <param name="Role">What it is within its method, in every build: <c>machine</c>, <c>closure0</c>, <c>Inner#1/machine</c>.</param>
/// <param name="Layout"><c>struct</c> or <c>class</c>, then its instance fields in order: <c>name : type</c>.</param>
/// <param name="Sites">The awaits at which a state machine can be suspended, by state; none of another type.</param>
internal sealed record OwnedType(string Name, string Role, IReadOnlyList<string> Layout, IReadOnlyList<AwaitSite> Sites);

/// <summary>A lambda or local function. It belongs to the row of the method that it stands in.</summary>
/// <param name="Type">Full name, in this build, of the type that it stands in.</param>
/// <param name="Name">Its name in this build.</param>
/// <param name="Role">What it is within its method, in every build: <c>lambda#0</c>, <c>Inner#1</c>.</param>
internal sealed record OwnedFunction(string Type, string Name, string Role);

/// <summary>An await of a method has the compiler's number, and a place in the sources as far as that is known.</summary>
/// <param name="State">The compiler's number for it.</param>
/// <param name="File">Name of the source file; empty: unknown.</param>
/// <param name="Line">1-based; 0: unknown.</param>
/// <param name="Text">The line; empty: unknown.</param>
internal readonly record struct AwaitSite(int State, string File, int Line, string Text)
{
    public override string ToString() =>
        Line == 0 ? $"await #{State}" : Text.Length == 0 ? $"await #{State} ({File}:{Line})" : $"await #{State} ({File}:{Line}: {Text})";
}

/// <summary>Holds the bodies of one assembly by their ids.</summary>
/// <param name="missing">The reason for which they could not be read; null: they were.</param>
internal sealed class KnownMethodBodies(IEnumerable<MethodBodyRow> all, string? missing = null)
{
    private readonly Dictionary<string, MethodBodyRow> _rows = all.GroupBy(static row => row.Id)
        .ToDictionary(static group => group.Key, static group => group.First());

    private readonly ILookup<string, MethodBodyRow> _former = all.Where(static row => row.FormerOf is not null)
        .OrderBy(static row => row.Id, StringComparer.Ordinal).ToLookup(static row => row.FormerOf!);

    internal string? Missing => missing;

    internal MethodBodyRow? Row(string id) => _rows.GetValueOrDefault(id);

    /// <summary>Returns the bodies of earlier builds that are kept for a method, in the order of their names.</summary>
    internal IEnumerable<MethodBodyRow> FormerOf(string id) => _former[id];

    /// <summary>Returns the method that has a body with this hash, of those in which a method may go on; null: none has.</summary>
    internal MethodBodyRow? WithBody(string id, string il) => Bodies(id).FirstOrDefault(each => each.Il == il);

    /// <summary>
    /// Returns the methods in which a method of an image may go on if its body is theirs: the one of its name, then those that keep a body
    /// for it. Where that name is gone it was one that kept a body, and whichever of its class has the same hash now does so under another
    /// name: hashes hold the name under which a body was suspended first.
    /// </summary>
    internal IEnumerable<MethodBodyRow> Bodies(string id)
    {
        if (Row(id) is not { } now) return FormerOf(id).Concat(_rows.Values.Where(row => ClassOf(row.Id) == ClassOf(id)));
        return FormerOf(id).Prepend(now);
    }

    private static string ClassOf(string id)
    {
        int end = id.IndexOfAny(['<', '(']);
        return id[..Math.Max(0, id.LastIndexOf('.', end < 0 ? id.Length - 1 : end))];
    }
}
