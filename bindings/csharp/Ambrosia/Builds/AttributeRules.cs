using System.Text.RegularExpressions;

namespace Ambrosia.Builds;

/// <summary>Says what a thing counts for in a build.</summary>
internal enum Standing
{
    /// <summary>
    /// It is not compared: it says where, when or of which commit the build was made, or repeats what is compared already.
    /// </summary>
    Nowhere,

    /// <summary>It makes another build, but changes nothing that is executed.</summary>
    Content,

    /// <summary>It may be seen wherever something is executed.</summary>
    Outside,
}

/// <summary>Tells which attributes are compared between builds. They are named by their constructors as metadata spells them.</summary>
internal static partial class AttributeRules
{
    private static readonly string[] s_ofVersion =
    [
        "System.Reflection.AssemblyInformationalVersionAttribute.", "System.Reflection.AssemblyFileVersionAttribute.",
        "System.Reflection.AssemblyVersionAttribute.", "Ambrosia.SuspendableAttribute.",
    ];

    /// <summary>The keys of AssemblyMetadataAttribute that name the commit.</summary>
    private static readonly string[] s_ofRepository = ["Repository", "CommitHash", "CommitId", "SourceRevision", "GitCommit", "SourceLink"];

    /// <summary>
    /// The compiler's own: of these, those of nullability move when an unrelated member comes or goes, and the others repeat what a method
    /// is.
    /// </summary>
    private static readonly string[] s_ofCompiler =
    [
        "System.Runtime.CompilerServices.", "System.Diagnostics.", "System.CodeDom.Compiler.GeneratedCodeAttribute.",
        "System.ComponentModel.EditorBrowsableAttribute.", "System.ParamArrayAttribute.",
    ];

    internal static Standing OfAssembly(string constructor) =>
        StartsWithAny(constructor, s_ofVersion) ? Standing.Nowhere
        : constructor.StartsWith("Ambrosia.ContractManifestAttribute.", StringComparison.Ordinal) ? Standing.Content
        : OfType(constructor);

    internal static Standing OfType(string constructor) =>
        constructor.StartsWith("System.Runtime.CompilerServices.Nullable", StringComparison.Ordinal) ? Standing.Content : Standing.Outside;

    /// <summary>Those of the binding on methods are in the manifest and in the generated code.</summary>
    internal static Standing OfMethod(string constructor) =>
        StartsWithAny(constructor, s_ofCompiler) || OfBinding().IsMatch(constructor) ? Standing.Content : Standing.Outside;

    internal static bool IsOfRepository(string constructor, string value) =>
        constructor.StartsWith("System.Reflection.AssemblyMetadataAttribute.", StringComparison.Ordinal)
        && s_ofRepository.Any(key => value.Length > 3 && value.AsSpan(3).StartsWith(key, StringComparison.OrdinalIgnoreCase));

    /// <summary>Says whether a type only repeats the contract manifest.</summary>
    internal static bool IsManifest(string type) => type == "Ambrosia.Generated.ContractManifest";

    private static bool StartsWithAny(string text, string[] starts) =>
        starts.Any(each => text.StartsWith(each, StringComparison.Ordinal));

    [GeneratedRegex(@"^Ambrosia\.\w+Attribute\.")]
    private static partial Regex OfBinding();
}
