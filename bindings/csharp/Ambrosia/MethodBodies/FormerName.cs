using System.Reflection.Metadata;

namespace Ambrosia.MethodBodies;

/// <summary>
/// Says as which method a kept body is spelled: as the one whose body it was. So it has the hashes that it had there, and what the compiler
/// names after it does not tell them apart.
/// </summary>
/// <param name="Method">The method that keeps the body.</param>
/// <param name="Now">Its own name.</param>
/// <param name="Name">
/// The name of the method whose body it was. With it stands the interface's, where that method implements it by name.
/// </param>
internal sealed record FormerName(MethodDefinitionHandle Method, string Now, string Name)
{
    private const ushort Prolog = 1;

    /// <summary>The part of a name by which the compiler says of which method it has made something.</summary>
    internal string MadeNow => $"<{Now}>";

    /// <summary>The same part under the former name. In names of types the compiler writes - for dots.</summary>
    internal string MadeBefore => $"<{Name}>";

    /// <summary>Returns what a method says of itself by <c>[Formerly(name)]</c>; null: it keeps no body of another one.</summary>
    internal static FormerName? Of(MetadataReader metadata, MethodDefinitionHandle handle)
    {
        MethodDefinition method = metadata.GetMethodDefinition(handle);
        if (FormerlyOf(metadata, method) is not { } name) return null;
        var names = new MemberNames(metadata, self: null);
        string signature = names.SignatureOf(method), byInterface = $".{name}";
        foreach (MethodDefinitionHandle each in metadata.GetTypeDefinition(method.GetDeclaringType()).GetMethods())
        {
            MethodDefinition other = metadata.GetMethodDefinition(each);
            string full = metadata.GetString(other.Name);
            if ((full == name || full.EndsWith(byInterface, StringComparison.Ordinal)) && names.SignatureOf(other) == signature)
                return new FormerName(handle, metadata.GetString(method.Name), full);
        }
        return new FormerName(handle, metadata.GetString(method.Name), name);
    }

    private static string? FormerlyOf(MetadataReader metadata, MethodDefinition method)
    {
        foreach (CustomAttributeHandle handle in method.GetCustomAttributes())
        {
            CustomAttribute attribute = metadata.GetCustomAttribute(handle);
            if (!AttributeNames.IsOurs(metadata, attribute, "FormerlyAttribute")) continue;
            BlobReader value = metadata.GetBlobReader(attribute.Value);
            if (value.ReadUInt16() == Prolog && value.ReadSerializedString() is { Length: > 0 } name) return name;
        }
        return null;
    }
}

/// <summary>Tells the binding's attributes in the metadata of an app.</summary>
internal static class AttributeNames
{
    internal static bool IsOurs(MetadataReader metadata, CustomAttribute attribute, string name)
    {
        if (attribute.Constructor.Kind != HandleKind.MemberReference) return false;
        EntityHandle parent = metadata.GetMemberReference((MemberReferenceHandle)attribute.Constructor).Parent;
        if (parent.Kind != HandleKind.TypeReference) return false;
        TypeReference type = metadata.GetTypeReference((TypeReferenceHandle)parent);
        return metadata.StringComparer.Equals(type.Name, name) && metadata.StringComparer.Equals(type.Namespace, "Ambrosia");
    }
}
