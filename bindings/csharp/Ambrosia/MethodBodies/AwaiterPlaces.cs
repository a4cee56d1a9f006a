using System.Reflection.Metadata;
using System.Reflection.Metadata.Ecma335;
using System.Reflection.PortableExecutable;

namespace Ambrosia.MethodBodies;

/// <summary>Finds where in the sources an async method awaits by a certain awaiter, with the PDB of its assembly.</summary>
internal static class AwaiterPlaces
{
    /// <summary>Gives <c>File.cs:line</c> of the first await that keeps its awaiter in a field; null where that is not known.</summary>
    /// <param name="path">The assembly's file; empty: it has none.</param>
    /// <param name="machine">The metadata token of the state machine.</param>
    internal static string? Of(string path, int machine, string field)
    {
        if (path.Length == 0) return null;
        try
        {
            using FileStream file = File.OpenRead(path);
            using var image = new PEReader(file);
            using MetadataReaderProvider? pdb = AssemblyMethodBodies.PdbOf(image, path);
            return pdb is null ? null : In(image, new PdbLines(pdb.GetMetadataReader(), static (_, _) => null), machine, field);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException or BadImageFormatException)
        {
            return null; // the place is for people; the refusal stands without it
        }
    }

    private static string? In(PEReader image, PdbLines lines, int machine, string field)
    {
        MetadataReader metadata = image.GetMetadataReader();
        TypeDefinition type = metadata.GetTypeDefinition((TypeDefinitionHandle)MetadataTokens.EntityHandle(machine));
        foreach (MethodDefinitionHandle handle in type.GetMethods())
        {
            MethodDefinition method = metadata.GetMethodDefinition(handle);
            if (method.RelativeVirtualAddress == 0 || !metadata.StringComparer.Equals(method.Name, "MoveNext")) continue;
            foreach (Instruction instruction in Instructions.Of(image.GetMethodBody(method.RelativeVirtualAddress).GetILBytes()!))
            {
                if (instruction.Code != System.Reflection.Emit.OpCodes.Stfld || NameOf(metadata, instruction.Member) != field) continue;
                AwaitSite site = lines.SiteAt(handle, 0, instruction.At);
                return site.Line == 0 ? null : $"{site.File}:{site.Line}";
            }
        }
        return null;
    }

    private static string? NameOf(MetadataReader metadata, EntityHandle field) => field.Kind switch
    {
        HandleKind.FieldDefinition => metadata.GetString(metadata.GetFieldDefinition((FieldDefinitionHandle)field).Name),
        HandleKind.MemberReference => metadata.GetString(metadata.GetMemberReference((MemberReferenceHandle)field).Name),
        _ => null,
    };
}
