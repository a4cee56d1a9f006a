using System.Reflection.Metadata;
using System.Reflection.PortableExecutable;

namespace Ambrosia.MethodBodies;

/// <summary>Reads the bodies of an assembly file, with the lines of its PDB if it has one beside it or in it.</summary>
internal static class AssemblyMethodBodies
{
    /// <param name="readLine">A line of a source file, 1-based; null: unknown.</param>
    /// <exception cref="BadImageFormatException">It is no assembly.</exception>
    internal static (Guid Mvid, List<MethodBodyRow> Rows) Read(string path, Func<string, int, string?> readLine)
    {
        using FileStream file = File.OpenRead(path);
        using var image = new PEReader(file);
        MetadataReader metadata = image.GetMetadataReader();
        using MetadataReaderProvider? pdb = PdbOf(image, path);
        PdbLines? lines = pdb is null ? null : new PdbLines(pdb.GetMetadataReader(), readLine);
        return (metadata.GetGuid(metadata.GetModuleDefinition().Mvid), new MethodBodyReader(image, lines).ReadAll());
    }

    /// <summary>Opens the PDB of an assembly file; null: it has none that can be read.</summary>
    internal static MetadataReaderProvider? PdbOf(PEReader image, string path)
    {
        try
        {
            return image.TryOpenAssociatedPortablePdb(path,
                static pdb => File.Exists(pdb) ? new MemoryStream(File.ReadAllBytes(pdb)) : null, out MetadataReaderProvider? found, out _)
                ? found : null;
        }
        catch (BadImageFormatException)
        {
            return null; // lines are for people; without them messages name the await by its number
        }
    }
}
