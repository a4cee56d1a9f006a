using System.Runtime.CompilerServices;
using Ambrosia.Generators.Roslyn;
using Microsoft.CodeAnalysis;

namespace Ambrosia.Generators.Determinism;

/// <summary>Asks the list of the framework's members about symbols. Any thread may ask.</summary>
internal static class FrameworkList
{
    private static readonly Verdict s_none = new("", "");

    /// <summary>It keeps what was said of members before, since an app uses few of them often.</summary>
    private static readonly ConditionalWeakTable<ISymbol, Verdict> s_said = new();

    /// <summary>Returns the verdict of a member; null where the list does not forbid it.</summary>
    internal static Verdict? Of(ISymbol member)
    {
        Verdict said = s_said.GetValue(member.OriginalDefinition, static definition => Find(definition) ?? s_none);
        return said == s_none ? null : said;
    }

    private static Verdict? Find(ISymbol definition)
    {
        if (definition.ContainingType is not { } type) return null;
        string space = Symbols.NamespaceOf(type), name = definition.MetadataName;
        if (definition is not IMethodSymbol method) return FrameworkNames.Of($"{space}.{NameOf(type)}", name, null, null);
        if (method.AssociatedSymbol is { } property) name = property.MetadataName;
        return FrameworkNames.Of($"{space}.{NameOf(type)}", name, method.Parameters.Length,
            method.Parameters.Length > 0 ? method.Parameters[0].Type.Name : null);
    }

    private static string NameOf(INamedTypeSymbol type) => type.ContainingType is { } outer ? $"{NameOf(outer)}.{type.Name}" : type.Name;
}
