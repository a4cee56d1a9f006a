namespace Ambrosia.ContractFile;

/// <summary>
/// Writes an assembly's contract manifest beside it, as part of its build (Ambrosia.ContractFile.targets). A generator cannot write files, so the
/// manifest travels in the assembly as an attribute; a program of its own reads it there, since a task would stay loaded in the build's server.
/// </summary>
internal static class Program
{
    private const int Ok = 0, Failed = 1, Misuse = 2;

    private static int Main(string[] args)
    {
        if (args is not [var assembly, var file])
        {
            Console.Error.WriteLine("usage: Ambrosia.ContractFile ASSEMBLY FILE; writes the assembly's contract manifest to the file, nothing if it has no contracts");
            return Misuse;
        }
        try
        {
            if (ManifestAttribute.Read(assembly) is { } json) Write(file, json);
            else File.Delete(file);
            return Ok;
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException or BadImageFormatException)
        {
            Console.Error.WriteLine($"{assembly}: {e.Message}");
            return Failed;
        }
    }

    /// <summary>Whole or not at all: builds run side by side.</summary>
    private static void Write(string file, string json)
    {
        string temporary = $"{file}.{Environment.ProcessId}.tmp";
        File.WriteAllText(temporary, json + "\n");
        File.Move(temporary, file, overwrite: true);
    }
}
