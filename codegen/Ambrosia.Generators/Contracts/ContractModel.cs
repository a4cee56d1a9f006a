using Ambrosia.Generators.Roslyn;
using Ambrosia.Generators.Serialization;

namespace Ambrosia.Generators.Contracts;

/// <summary>A contract. Its proxy, its dispatch and its part of the manifest are made of this model.</summary>
/// <param name="Namespace">The namespace; empty for the global one.</param>
/// <param name="Access"><c>public</c> or <c>internal</c>.</param>
internal sealed record ContractModel(string Namespace, string Name, string Access, EquatableArray<MethodModel> Methods)
{
    /// <summary>The exceptions that both sides know.</summary>
    internal EquatableArray<FailureModel> Failures { get; init; }

    internal string FullName => Namespace.Length == 0 ? Name : $"{Namespace}.{Name}";

    /// <summary>The name from <c>global::</c> on.</summary>
    internal string TypeName => $"global::{FullName}";

    internal string ProxyName => Name + "Proxy";
}

/// <summary>The kind says in which way a handler gives its result.</summary>
internal enum ReturnKind
{
    Nothing,
    Value,
    Call,
    CallOfValue,
}

/// <summary>It describes a parameter of a contract's method.</summary>
/// <param name="Name">The name as code writes it: with @ where it is a keyword.</param>
/// <param name="Default">The default value as C#, or null where the parameter has none.</param>
/// <param name="DefaultHex">The default value as hexadecimal CBOR, or null where the parameter has none that travels.</param>
internal sealed record ParameterModel(string Name, TypeModel Type, string? Default, string? DefaultHex);

/// <summary>It describes a method of a contract: how it is called, on the wire and in code.</summary>
/// <param name="Name">The name as code writes it: with @ where it is a keyword.</param>
/// <param name="Interface">The name of the interface that declares it, from <c>global::</c> on.</param>
/// <param name="IsQuery">True of a method for callers outside alone: it is in no log, so no immortal can call it.</param>
internal sealed record MethodModel(
    string Name, string Interface, uint Id, bool IsImpulse, bool IsQuery, ReturnKind ReturnKind, TypeModel? Result,
    EquatableArray<ParameterModel> Parameters)
{
    /// <summary>The name without the @ of keywords, as a part of longer names.</summary>
    internal string PlainName => Name.TrimStart('@');

    /// <summary>True where the only parameter is bytes: they travel as they are (P4.2).</summary>
    internal bool IsRaw => Parameters.Count == 1 && Parameters[0].Type.IsRawWhenAlone;
}
