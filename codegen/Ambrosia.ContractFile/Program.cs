using Ambrosia.MethodBodies;

namespace Ambrosia.ContractFile;

/// <summary>
/// Writes two files beside an assembly, as a part of its build (Ambrosia.ContractFile.targets): the contract manifest, and the bodies of
/// the methods that can be suspended. A generator cannot do this: it cannot write files and sees no IL. This is a program of its own
/// because a build task would stay loaded in the build's server.
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
            (Guid mvid, List<MethodBodyRow> rows) = AssemblyMethodBodies.Read(assembly, sources.Read);
            if (rows.Count > 0) Write(bodies, file => MethodBodyFile.Write(file, mvid, rows));
            else File.Delete(bodies);
            return Ok;
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException or BadImageFormatException)
        {
            Console.Error.WriteLine($"{assembly}: {e.Message}");
            return Failed;
        }
    }

    /// <summary>Writes a file as a whole or not at all, since builds run side by side.</summary>
    private static void Write(string file, Action<Stream> content)
    {
        string temporary = $"{file}.{Environment.ProcessId}.tmp";
        using (FileStream to = File.Create(temporary)) content(to);
        File.Move(temporary, file, overwrite: true);
    }
}

/// <summary>Reads lines of source files by the paths that a PDB names. Each file is read once.</summary>
internal sealed class SourceLines
{
    private readonly Dictionary<string, string[]> _files = [];

    /// <summary>Returns a line, counted from 1, or null where the file is not here or has no such line.</summary>
    public string? Read(string path, int line)
    {
        if (!_files.TryGetValue(path, out string[]? lines)) _files.Add(path, lines = File.Exists(path) ? File.ReadAllLines(path) : []);
        return line >= 1 && line <= lines.Length ? lines[line - 1] : null;
    }
}
