namespace Ambrosia.Generators;

/// <summary>A contract: what its proxy, its dispatch and the manifest are made of.</summary>
/// <param name="Namespace">Empty: the global one.</param>
/// <param name="Access">public or internal.</param>
internal sealed record ContractModel(string Namespace, string Name, string Access, EquatableArray<MethodModel> Methods)
{
    internal string FullName => Namespace.Length == 0 ? Name : $"{Namespace}.{Name}";

    /// <summary>From <c>global::</c> on.</summary>
    internal string TypeName => $"global::{FullName}";

    internal string ProxyName => Name + "Proxy";
}
