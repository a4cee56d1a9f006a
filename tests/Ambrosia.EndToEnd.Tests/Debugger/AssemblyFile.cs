using System.Reflection.Metadata;
using System.Reflection.Metadata.Ecma335;
using System.Reflection.PortableExecutable;

namespace Ambrosia.EndToEnd.Tests.Debugger;

/// <summary>What a debugger knows of an assembly from its file: the names of its methods, and which of them are the user's.</summary>
internal sealed class AssemblyFile
{
    private static readonly string[] s_notTheUsers = ["DebuggerNonUserCodeAttribute", "DebuggerStepThroughAttribute", "DebuggerHiddenAttribute"];

    private readonly MetadataReader _metadata;

    private AssemblyFile(string path)
    {
        Path = path;
        _metadata = new PEReader([.. File.ReadAllBytes(path)]).GetMetadataReader();
    }

    public string Path { get; }

    /// <summary>Its symbols lie beside it, so a debugger shows its source.</summary>
    public bool HasSymbols => File.Exists(System.IO.Path.ChangeExtension(Path, ".pdb"));

    /// <summary>Its methods that are marked as none of the user's, also by the type around them.</summary>
    public uint[] NotTheUsers => [.. _metadata.MethodDefinitions.Where(IsMarked).Select(static each => (uint)MetadataTokens.GetToken(each))];

    /// <summary>Null: it is in no file.</summary>
    public static AssemblyFile? Open(string path) => File.Exists(path) ? new AssemblyFile(path) : null;

    /// <summary>Returns the name of a method, behind that of its type.</summary>
    public string NameOf(uint token)
    {
        MethodDefinition method = _metadata.GetMethodDefinition((MethodDefinitionHandle)MetadataTokens.Handle((int)token));
        TypeDefinition type = _metadata.GetTypeDefinition(method.GetDeclaringType());
        return $"{_metadata.GetString(type.Namespace)}.{_metadata.GetString(type.Name)}.{_metadata.GetString(method.Name)}";
    }

    /// <summary>Returns the token of a method with this name, behind that of its type; null: there is none.</summary>
    public uint? TokenOf(string name) => _metadata.MethodDefinitions.Select(static each => (uint)MetadataTokens.GetToken(each))
        .Where(token => NameOf(token) == name).Select(static token => (uint?)token).FirstOrDefault();

    private bool IsMarked(MethodDefinitionHandle handle)
    {
        MethodDefinition method = _metadata.GetMethodDefinition(handle);
        if (IsMarked(method.GetCustomAttributes())) return true;
        for (TypeDefinitionHandle type = method.GetDeclaringType(); !type.IsNil; type = _metadata.GetTypeDefinition(type).GetDeclaringType())
            if (IsMarked(_metadata.GetTypeDefinition(type).GetCustomAttributes())) return true;
        return false;
    }

    private bool IsMarked(CustomAttributeHandleCollection attributes) =>
        attributes.Any(each => s_notTheUsers.Contains(NameOf(_metadata.GetCustomAttribute(each).Constructor)));

    private string NameOf(EntityHandle constructor)
    {
        EntityHandle type = constructor.Kind == HandleKind.MemberReference
            ? _metadata.GetMemberReference((MemberReferenceHandle)constructor).Parent
            : _metadata.GetMethodDefinition((MethodDefinitionHandle)constructor).GetDeclaringType();
        return _metadata.GetString(type.Kind == HandleKind.TypeReference
            ? _metadata.GetTypeReference((TypeReferenceHandle)type).Name
            : _metadata.GetTypeDefinition((TypeDefinitionHandle)type).Name);
    }
}
