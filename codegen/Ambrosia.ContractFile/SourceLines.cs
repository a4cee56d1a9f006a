namespace Ambrosia.ContractFile;

/// <summary>Lines of source files by the paths that a PDB names; each file is read once.</summary>
internal sealed class SourceLines
{
    private readonly Dictionary<string, string[]> files = [];

    /// <summary>Null: the file is not here, or has no such line.</summary>
    public string? Read(string path, int line)
    {
        if (!files.TryGetValue(path, out string[]? lines)) files.Add(path, lines = File.Exists(path) ? File.ReadAllLines(path) : []);
        return line >= 1 && line <= lines.Length ? lines[line - 1] : null;
    }
}
