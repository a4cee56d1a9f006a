namespace Ambrosia.Generators;

/// <summary>A class of an immortal, whose dispatch is generated.</summary>
/// <param name="Containing">Declarations of the types around it, outermost first: <c>partial class Outer</c>.</param>
internal sealed record ImmortalModel(string Namespace, EquatableArray<string> Containing, string Name, ContractModel Contract)
{
    internal string FullName =>
        string.Join(".", new[] { Namespace, string.Join(".", Containing), Name }).Replace("partial class ", "").TrimStart('.');
}
