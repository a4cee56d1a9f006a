using System.Reflection.Metadata;
using System.Reflection.PortableExecutable;

namespace Ambrosia.ContractFile;

/// <summary>
/// Reads the attribute <c>Ambrosia.ContractManifestAttribute(ulong hash, string json)</c> of an assembly without loading the assembly.
/// </summary>
internal static class ManifestAttribute
{
    private const string Namespace = "Ambrosia", Name = "ContractManifestAttribute";
    private const ushort Prolog = 1;

    /// <summary>Returns the JSON, or null where the assembly has no contracts.</summary>
    /// <exception cref="BadImageFormatException">The file is no assembly.</exception>
    public static string? Read(string assembly)
    {
        using FileStream file = File.OpenRead(assembly);
        using var image = new PEReader(file);
        MetadataReader metadata = image.GetMetadataReader();
        foreach (CustomAttributeHandle handle in metadata.GetAssemblyDefinition().GetCustomAttributes())
        {
            CustomAttribute attribute = metadata.GetCustomAttribute(handle);
            if (IsManifest(metadata, attribute)) return JsonOf(metadata.GetBlobReader(attribute.Value));
        }
        return null;
    }

    private static bool IsManifest(MetadataReader metadata, CustomAttribute attribute)
    {
        if (attribute.Constructor.Kind != HandleKind.MemberReference) return false; // the attribute's own assembly has no contracts
        EntityHandle parent = metadata.GetMemberReference((MemberReferenceHandle)attribute.Constructor).Parent;
        if (parent.Kind != HandleKind.TypeReference) return false;
        TypeReference type = metadata.GetTypeReference((TypeReferenceHandle)parent);
        return metadata.StringComparer.Equals(type.Name, Name) && metadata.StringComparer.Equals(type.Namespace, Namespace);
    }

    private static string JsonOf(BlobReader value)
    {
        if (value.ReadUInt16() != Prolog) throw new BadImageFormatException($"{Name} has another form");
        value.ReadUInt64(); // the hash
        return value.ReadSerializedString() ?? throw new BadImageFormatException($"{Name} holds no text");
    }
}
