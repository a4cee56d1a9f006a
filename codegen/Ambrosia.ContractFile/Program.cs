using Ambrosia.Builds;
using Ambrosia.MethodBodies;

namespace Ambrosia.ContractFile;

/// <summary>
/// Writes files beside an assembly, as a part of its build (Ambrosia.ContractFile.targets): the contract manifest, the bodies of the
/// methods that can be suspended, and beside an app what its build is. A generator cannot do this: it cannot write files and sees no IL.
/// This is a program of its own because a build task would stay loaded in the build's server.
/// </summary>
internal static class Program
{
    private const int Ok = 0, Failed = 1, Misuse = 2, Faults = 3;

    private static int Main(string[] args)
    {
        if (args is ["build", var document, var list, .. [] or [_, _]])
            return Guarded(document, () => WriteBuild(document, File.ReadAllLines(list), args[3..]));
        if (args is [var assembly, var contracts, var bodies]) return Guarded(assembly, () => WriteParts(assembly, contracts, bodies));
        Console.Error.WriteLine(
            "usage: Ambrosia.ContractFile ASSEMBLY CONTRACTS BODIES; writes the assembly's contract manifest and its suspendable bodies to the files, nothing if it has none\n"
            + "       Ambrosia.ContractFile build FILE LIST [TRUSTED SEEN]; writes to FILE what the build of these assemblies is, a path a line in LIST; with TRUSTED it says what handlers execute in other assemblies that is no function of the log, and ends with 3 if there is any; SEEN keeps what was seen of them");
        return Misuse;
    }

    private static int Guarded(string what, Func<int> write)
    {
        try
        {
            return write();
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException or BadImageFormatException)
        {
            Console.Error.WriteLine($"{what}: {e.Message}");
            return Failed;
        }
    }

    private static int WriteParts(string assembly, string contracts, string bodies)
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

    private static int WriteBuild(string document, string[] assemblies, string[] judging)
    {
        byte[] json = BuildReader.Read(assemblies).ToJson();
        Write(document, file => file.Write(json));
        return judging is [var trusted, var seen] ? Judge(assemblies, trusted, seen) : Ok;
    }

    /// <summary>Tells the build of each fault as the compiler does, so that it fails by these lines and not by the program.</summary>
    private static int Judge(string[] assemblies, string trusted, string seen)
    {
        IReadOnlyList<string> faults = ForeignCodeReport.Of(assemblies, trusted.Split(';', StringSplitOptions.TrimEntries), seen);
        foreach (string each in faults) Console.WriteLine(each);
        return faults.Count == 0 ? Ok : Faults;
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
