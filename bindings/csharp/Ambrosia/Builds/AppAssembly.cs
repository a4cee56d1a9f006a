using System.Reflection.Metadata;
using System.Reflection.PortableExecutable;
using System.Security.Cryptography;
using Ambrosia.MethodBodies;

namespace Ambrosia.Builds;

/// <summary>
/// An assembly of the app, read into memory as a file: nothing of it is loaded or run. Its names are spelled without the compiler's moving
/// ordinals.
/// </summary>
internal sealed class AppAssembly : IDisposable
{
    private readonly PEReader _image;

    private AppAssembly(PEReader image)
    {
        _image = image;
        Metadata = image.GetMetadataReader();
        Name = Metadata.GetString(Metadata.GetAssemblyDefinition().Name);
        Names = new MemberNames(Metadata, default(TypeDefinitionHandle));
    }

    internal string Name { get; }

    internal MetadataReader Metadata { get; }

    internal MemberNames Names { get; }

    /// <summary>Opens a file; null when it holds no IL, or more than IL.</summary>
    /// <exception cref="BadImageFormatException">It says that it is an assembly, and is broken.</exception>
    internal static AppAssembly? Open(string path)
    {
        var image = new PEReader(new MemoryStream(File.ReadAllBytes(path)));
        if (IsIl(image)) return new AppAssembly(image);
        image.Dispose();
        return null;
    }

    /// <summary>
    /// Returns what tells two compilations of a file apart, without reading its code: the module version id and the length of the metadata,
    /// since tools that rewrite an assembly may keep its id. A file without IL has the hash of its bytes, and the length 0.
    /// </summary>
    internal static BuildFileId IdOf(string path)
    {
        string name = Path.GetFileName(path);
        using FileStream file = File.OpenRead(path);
        using var image = new PEReader(file, PEStreamOptions.LeaveOpen);
        if (IsIl(image))
        {
            MetadataReader metadata = image.GetMetadataReader();
            return new BuildFileId(name, metadata.GetGuid(metadata.GetModuleDefinition().Mvid), metadata.MetadataLength);
        }
        file.Position = 0;
        return new BuildFileId(name, new Guid(SHA256.HashData(file).AsSpan(0, 16)), 0);
    }

    internal MethodBodyBlock? BodyOf(MethodDefinition method) =>
        method.RelativeVirtualAddress == 0 || (method.ImplAttributes & System.Reflection.MethodImplAttributes.CodeTypeMask) != 0
            ? null : _image.GetMethodBody(method.RelativeVirtualAddress);

    /// <summary>Returns the bytes that a field with initial data has in the file, in hexadecimal; empty: it has none.</summary>
    internal string DataOf(FieldDefinition field)
    {
        int at = field.GetRelativeVirtualAddress();
        if (at == 0) return "";
        BlobReader signature = Metadata.GetBlobReader(field.Signature);
        signature.ReadSignatureHeader();
        int bytes = signature.ReadSignatureTypeCode() switch
        {
            SignatureTypeCode.Boolean or SignatureTypeCode.SByte or SignatureTypeCode.Byte => 1,
            SignatureTypeCode.Int16 or SignatureTypeCode.UInt16 or SignatureTypeCode.Char => 2,
            SignatureTypeCode.Int32 or SignatureTypeCode.UInt32 or SignatureTypeCode.Single => 4,
            SignatureTypeCode.TypeHandle when signature.ReadTypeHandle() is { Kind: HandleKind.TypeDefinition } type =>
                Metadata.GetTypeDefinition((TypeDefinitionHandle)type).GetLayout().Size,
            _ => 8,
        };
        return Convert.ToHexStringLower(_image.GetSectionData(at).GetContent(0, bytes).AsSpan());
    }

    /// <summary>Returns the bytes of an embedded resource.</summary>
    internal ReadOnlySpan<byte> ResourceAt(long offset)
    {
        int directory = _image.PEHeaders.CorHeader!.ResourcesDirectory.RelativeVirtualAddress;
        BlobReader bytes = _image.GetSectionData(directory + (int)offset).GetReader();
        return bytes.ReadBytes(bytes.ReadInt32());
    }

    public void Dispose() => _image.Dispose();

    private static bool IsIl(PEReader image)
    {
        try
        {
            const CorFlags Il = CorFlags.ILOnly | CorFlags.ILLibrary; // the second one: compiled ahead, with its IL
            return image.HasMetadata && (image.PEHeaders.CorHeader!.Flags & Il) != 0 && image.GetMetadataReader().IsAssembly;
        }
        catch (BadImageFormatException)
        {
            return false;
        }
    }
}
