namespace Ambrosia.Builds;

/// <summary>
/// A method with all that the compiler made of it (lambdas, local functions, closures, state machines): what it is, and what else it may
/// execute. The compiler's part counts as the method's own, so it has no name of its own that could move.
/// </summary>
internal sealed class CodeUnit
{
    internal CodeUnit(AppMethod method) => Method = method;

    internal AppMethod Method { get; }

    /// <summary>The hash of the signature and of all IL of the unit, in hexadecimal.</summary>
    internal string Hash { get; set; } = "";

    /// <summary>A text that tells this unit of this content from every other one.</summary>
    internal string Text => field ??= $"{Method.Type.Assembly.Name} {Method.Owner?.Signature} {Method.Signature} {Hash}\n";

    /// <summary>The methods that it names, to call them or to make delegates of them.</summary>
    internal HashSet<AppMethod> Calls { get; } = [];

    /// <summary>Virtual members that it calls: any type of the app may fill them.</summary>
    internal HashSet<VirtualMember> Slots { get; } = [];

    /// <summary>The types that it names, except those that the compiler made.</summary>
    internal HashSet<AppType> Types { get; } = [];

    /// <summary>Types that it gives to generic code outside, or to reflection: their properties may be read and set there.</summary>
    internal HashSet<AppType> Serialized { get; } = [];

    /// <summary>The types that the compiler made of the method.</summary>
    internal List<AppType> Made { get; } = [];

    /// <summary>Functions of which it makes delegates, with the type of the delegate; empty: it is not seen.</summary>
    internal List<(AppMethod Function, string Delegate)> Functions { get; } = [];

    /// <summary>
    /// The types of fields that it uses, and of what it casts to: delegates and iterators that others made come to it by these.
    /// </summary>
    internal HashSet<string> Held { get; } = [];

    /// <summary>The types of arguments that it gives to code outside, which may keep them where their type is not seen any more.</summary>
    internal HashSet<string> GivenAway { get; } = [];

    /// <summary>It finds code by names that are data: it may execute anything.</summary>
    internal bool RunsAnything { get; set; }

    /// <summary>It may let suspended methods go on.</summary>
    internal bool Resumes { get; set; }
}
