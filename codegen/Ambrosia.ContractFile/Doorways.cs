using System.Reflection.Metadata;
using Ambrosia.Builds;

namespace Ambrosia.ContractFile;

/// <summary>
/// Finds the methods of other assemblies that one with handlers can enter, from its tables alone: those that it names, and those that its
/// types inherit. More than its handlers call may be among them, and nothing that they call is missing.
/// </summary>
internal sealed class Doorways(AppCode code)
{
    private const string Binding = "Ambrosia";

    internal IEnumerable<AppMethod> All => code.Assemblies.Where(HasHandlers)
        .SelectMany(own => Named(own).Concat(Inherited(own)).Where(each => each.Type.Assembly != own));

    private static bool HasHandlers(AppAssembly assembly) => assembly.Metadata.AssemblyReferences
        .Any(each => assembly.Metadata.StringComparer.Equals(assembly.Metadata.GetAssemblyReference(each).Name, Binding));

    private IEnumerable<AppMethod> Named(AppAssembly own) =>
        own.Metadata.MemberReferences.SelectMany(each => TokenTarget.Of(code, own, each).Methods);

    /// <summary>A virtual call of a type's own leads to what it has from its parents, though nothing names that.</summary>
    private IEnumerable<AppMethod> Inherited(AppAssembly own) => code.Types.Where(type => type.Assembly == own)
        .SelectMany(static type => type.Ancestors).Distinct().SelectMany(static type => type.Methods)
        .Where(static each => each.IsVirtual && !each.IsAbstract);
}
