namespace Ambrosia;

/// <summary>
/// A method of an app together with all that the compiler made of it: state machines, closures, lambdas, local functions.
/// </summary>
/// <param name="Id">Survives every recompile: <c>Namespace.Type.Method&lt;!!0&gt;(parameter types):return type</c>.</param>
/// <param name="Signature">For people: C#.</param>
/// <param name="Il">Hash of the method's IL and of everything lexically inside it, free of what other members of the type change.</param>
/// <param name="Source">The generator's hash of the tokens and what they mean; empty: unknown.</param>
internal sealed record BodyRow(
    string Id, string Signature, string Il, string Source, IReadOnlyList<OwnedType> Types, IReadOnlyList<OwnedFunction> Functions);

/// <summary>A type that the compiler made for a method.</summary>
/// <param name="Name">Full name in this build.</param>
/// <param name="Role">What it is within its method, in every build: <c>machine</c>, <c>closure0</c>, <c>Inner#1/machine</c>.</param>
/// <param name="Layout"><c>struct</c> or <c>class</c>, then its instance fields in order: <c>name : type</c>.</param>
/// <param name="Sites">Of a state machine: where it can be suspended, by state.</param>
internal sealed record OwnedType(string Name, string Role, IReadOnlyList<string> Layout, IReadOnlyList<AwaitSite> Sites);

/// <summary>A lambda or local function.</summary>
/// <param name="Type">Full name, in this build, of the type that it stands in.</param>
/// <param name="Name">Its name in this build.</param>
/// <param name="Role">What it is within its method, in every build: <c>lambda#0</c>, <c>Inner#1</c>.</param>
internal sealed record OwnedFunction(string Type, string Name, string Role);

/// <summary>One await of a method.</summary>
/// <param name="State">The compiler's number for it.</param>
/// <param name="File">Name of the source file; empty: unknown.</param>
/// <param name="Line">1-based; 0: unknown.</param>
/// <param name="Text">The line; empty: unknown.</param>
internal readonly record struct AwaitSite(int State, string File, int Line, string Text)
{
    public override string ToString() =>
        Line == 0 ? $"await #{State}" : Text.Length == 0 ? $"await #{State} ({File}:{Line})" : $"await #{State} ({File}:{Line}: {Text})";
}
