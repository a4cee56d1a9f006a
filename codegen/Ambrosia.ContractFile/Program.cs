namespace Ambrosia.ContractFile;

/// <summary>
/// Writes what others must know of an assembly beside it, as part of its build (Ambrosia.ContractFile.targets): its contract manifest, and
/// the bodies of its methods that can be suspended. A generator cannot write files and sees no IL; a program of its own reads the assembly,
/// since a task would stay loaded in the build's server.
/// </summary>
internal static class Program
{
    private const int Ok = 0, Failed = 1, Misuse = 2;

    private static int Main(string[] args)
    {
        if (args is not [var assembly, var contracts, var bodies])
        {
            Console.Error.WriteLine(
                "usage: Ambrosia.ContractFile ASSEMBLY CONTRACTS BODIES; writes the assembly's contract manifest and its suspendable bodies to the files, nothing if it has none");
            return Misuse;
        }
        try
        {
            if (ManifestAttribute.Read(assembly) is { } json)
                Write(contracts, file => file.Write(System.Text.Encoding.UTF8.GetBytes(json + "\n")));
            else File.Delete(contracts);
            var sources = new SourceLines();
            (Guid mvid, List<BodyRow> rows) = AssemblyBodies.Read(assembly, sources.Read);
            if (rows.Count > 0) Write(bodies, file => BodyFile.Write(file, mvid, rows));
            else File.Delete(bodies);
            return Ok;
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException or BadImageFormatException)
        {
            Console.Error.WriteLine($"{assembly}: {e.Message}");
            return Failed;
        }
    }

    /// <summary>Whole or not at all: builds run side by side.</summary>
    private static void Write(string file, Action<Stream> content)
    {
        string temporary = $"{file}.{Environment.ProcessId}.tmp";
        using (FileStream to = File.Create(temporary)) content(to);
        File.Move(temporary, file, overwrite: true);
    }
}
