using System;
using System.Collections.Generic;
using System.Linq;
using Ambrosia.Generators.Roslyn;
using Microsoft.CodeAnalysis;

namespace Ambrosia.Generators.Determinism;

/// <summary>Knows which classes are immortals, and where the binding enters them.</summary>
internal static class ImmortalTypes
{
    private const string ProxySuffix = "Proxy";

    private static readonly string[] s_hooks = ["OnFirstStart", "OnUpgraded"];

    /// <summary>The members of Immortal that begin something which the log ends, or that need the record which is executed.</summary>
    private static readonly HashSet<string> s_sending =
        ["Delay", "Every", "NondetTask", "NondetMethod", "RequestCheckpoint"], s_handlerOnly = ["Now", "Random", "NewGuid", "GetProxy"];

    internal static bool IsImmortal(ITypeSymbol? type)
    {
        for (ITypeSymbol? at = type; at is not null; at = at.BaseType)
            if (IsBase(at)) return true;
        return false;
    }

    /// <summary>Tells whether it is the class of the binding from which immortals derive.</summary>
    internal static bool IsBase(ITypeSymbol type) => Symbols.IsOurs(type, "Immortal") || Symbols.IsOurs(type, "Immortal", arity: 1);

    /// <summary>Tells whether a method belongs to a generated proxy.</summary>
    internal static bool IsProxy(ITypeSymbol? type)
    {
        for (ITypeSymbol? at = type; at is not null; at = at.BaseType)
            if (Symbols.IsOurs(at, "ImmortalProxy")) return true;
        return type is not null && type.AllInterfaces.Any(static each => Symbols.IsOurs(each, "IImmortalProxy"));
    }

    /// <summary>Tells whether a method sends by a proxy: of the generated class, with a key, or by GetProxy's.</summary>
    internal static bool IsSending(IMethodSymbol method) =>
        IsProxy(method.ContainingType) || IsProxy(method.ContainingType?.ContainingType)
        || ((method.ReducedFrom ?? method) is { IsExtensionMethod: true, Parameters: { Length: > 0 } parameters }
            && IsProxy(parameters[0].Type));

    internal static bool IsCall(ITypeSymbol? type) =>
        Symbols.IsOurs(type?.OriginalDefinition, "Call") || Symbols.IsOurs(type?.OriginalDefinition, "Call", arity: 1);

    /// <summary>Tells whether a method runs its argument outside of the handlers.</summary>
    internal static bool IsTask(IMethodSymbol method) =>
        method.Name is "NondetTask" or "NondetMethod" && IsBase(method.ContainingType);

    internal static StateUseKind? UseOf(ISymbol member) =>
        !IsBase(member.ContainingType) ? null
        : s_sending.Contains(member.Name) ? StateUseKind.Send
        : s_handlerOnly.Contains(member.Name) ? StateUseKind.HandlerOnly : null;

    /// <summary>
    /// Returns the methods that the log executes: handlers, constructors and hooks; <paramref name="queries"/>: those that only read.
    /// </summary>
    internal static IEnumerable<IMethodSymbol> Roots(INamedTypeSymbol immortal, bool queries)
    {
        foreach (INamedTypeSymbol contract in ContractsOf(immortal))
            foreach (IMethodSymbol method in contract.GetMembers().OfType<IMethodSymbol>())
                if (Symbols.Attribute(method, "QueryAttribute") is not null == queries
                    && immortal.FindImplementationForInterfaceMember(method) is IMethodSymbol handler) yield return handler;
        if (queries) yield break;
        foreach (IMethodSymbol constructor in immortal.InstanceConstructors) yield return constructor;
        for (INamedTypeSymbol? at = immortal; at is not null && !IsBase(at); at = at.BaseType)
            foreach (IMethodSymbol hook in at.GetMembers().OfType<IMethodSymbol>().Where(each => s_hooks.Contains(each.Name)))
                yield return hook;
    }

    /// <summary>Returns the methods of an immortal that the binding runs beside its handlers.</summary>
    internal static IEnumerable<IMethodSymbol> Beside(INamedTypeSymbol immortal)
    {
        for (INamedTypeSymbol? at = immortal; at is not null && !IsBase(at); at = at.BaseType)
            foreach (IMethodSymbol method in at.GetMembers("WhilePrimary").OfType<IMethodSymbol>())
                if (method.IsOverride) yield return method;
    }

    private static IEnumerable<INamedTypeSymbol> ContractsOf(INamedTypeSymbol immortal)
    {
        INamedTypeSymbol? parent = immortal.BaseType;
        while (parent is not null && !IsBase(parent)) parent = parent.BaseType;
        if (parent is not { TypeArguments.Length: 1 }) return [];
        string proxy = parent.TypeArguments[0].Name;
        string name = proxy.EndsWith(ProxySuffix, StringComparison.Ordinal) ? proxy.Substring(0, proxy.Length - ProxySuffix.Length) : proxy;
        return immortal.AllInterfaces.Where(each => each.Name == name).SelectMany(static each => each.AllInterfaces.Prepend(each));
    }
}
