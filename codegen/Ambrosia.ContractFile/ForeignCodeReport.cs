using System.Reflection.Metadata;
using System.Reflection.PortableExecutable;
using Ambrosia.Builds;

namespace Ambrosia.ContractFile;

/// <summary>Writes what was found in other assemblies as a compiler writes its errors, at the lines of the handlers' own code.</summary>
internal static class ForeignCodeReport
{
    /// <summary>Returns a line for each fault.</summary>
    /// <param name="paths">The assemblies of the app.</param>
    /// <param name="trusted">Names of assemblies that are not followed.</param>
    /// <param name="seen">The file that keeps what was seen of assemblies; empty: none does.</param>
    /// <exception cref="BadImageFormatException">A file is broken.</exception>
    internal static IReadOnlyList<string> Of(IReadOnlyList<string> paths, IReadOnlyCollection<string> trusted, string seen = "")
    {
        var pathOf = new Dictionary<AppAssembly, string>();
        try
        {
            foreach (string path in new ForeignAssemblies(seen).Followed(paths, trusted))
            {
                if (AppAssembly.Open(path) is not { } assembly) continue;
                if (BuildReader.Product.Contains(assembly.Name)) assembly.Dispose();
                else pathOf.Add(assembly, path);
            }
            if (pathOf.Count < 2) return []; // there is nothing but the handlers' own assembly
            IReadOnlyList<ForeignFault> found = new ForeignCode(new AppCode([.. pathOf.Keys]), trusted).Find();
            return [.. found.Select(fault => $"{PlaceOf(fault, pathOf[fault.Call.Type.Assembly])}: error {fault.Rule}: {TextOf(fault)}")];
        }
        finally
        {
            foreach (AppAssembly each in pathOf.Keys) each.Dispose();
        }
    }

    private static string TextOf(ForeignFault fault) =>
        $"{fault.What} is no function of the log. It is executed by {string.Join(" → ", fault.Way)}, in another assembly. Use {fault.Mend}. "
        + "If the call is deterministic all the same, name its assembly in the property AmbrosiaTrustedAssemblies";

    /// <summary>Returns the source line of a call, or the assembly where there are no symbols.</summary>
    private static string PlaceOf(ForeignFault fault, string path)
    {
        using FileStream file = File.OpenRead(path);
        using var image = new PEReader(file);
        if (!image.TryOpenAssociatedPortablePdb(path, static pdb => File.Exists(pdb) ? new MemoryStream(File.ReadAllBytes(pdb)) : null,
            out MetadataReaderProvider? found, out _)) return path;
        using MetadataReaderProvider symbols = found!;
        MetadataReader pdb = symbols.GetMetadataReader();
        SequencePoint at = default;
        foreach (SequencePoint point in pdb.GetMethodDebugInformation(fault.Call.Handle.ToDebugInformationHandle()).GetSequencePoints())
            if (!point.IsHidden && point.Offset <= fault.At) at = point;
        return at.Document.IsNil ? path : $"{pdb.GetString(pdb.GetDocument(at.Document).Name)}({at.StartLine},{at.StartColumn})";
    }
}
