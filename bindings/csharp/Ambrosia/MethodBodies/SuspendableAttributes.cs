using System.Reflection.Metadata;

namespace Ambrosia.MethodBodies;

/// <summary>
/// Reads the attributes <c>Ambrosia.SuspendableAttribute(id, source)</c> of an assembly: the generator's hash of each method's source.
/// </summary>
internal static class SuspendableAttributes
{
    private const ushort Prolog = 1;

    internal static Dictionary<string, string> Read(MetadataReader metadata)
    {
        var found = new Dictionary<string, string>();
        foreach (CustomAttributeHandle handle in metadata.GetAssemblyDefinition().GetCustomAttributes())
        {
            CustomAttribute attribute = metadata.GetCustomAttribute(handle);
            if (!IsSuspendable(metadata, attribute)) continue;
            BlobReader value = metadata.GetBlobReader(attribute.Value);
            if (value.ReadUInt16() != Prolog) continue;
            if (value.ReadSerializedString() is { } id && value.ReadSerializedString() is { } source) found[id] = source;
        }
        return found;
    }

    private static bool IsSuspendable(MetadataReader metadata, CustomAttribute attribute)
    {
        if (attribute.Constructor.Kind != HandleKind.MemberReference) return false;
        EntityHandle parent = metadata.GetMemberReference((MemberReferenceHandle)attribute.Constructor).Parent;
        if (parent.Kind != HandleKind.TypeReference) return false;
        TypeReference type = metadata.GetTypeReference((TypeReferenceHandle)parent);
        return metadata.StringComparer.Equals(type.Name, "SuspendableAttribute")
            && metadata.StringComparer.Equals(type.Namespace, "Ambrosia");
    }
}
