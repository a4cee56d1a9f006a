using System.Text.Json;
using Ambrosia.MethodBodies;
using Ambrosia.Tools.Output;

namespace Ambrosia.Tools.SuspendedCalls;

/// <summary>Holds the suspendable method bodies of a build, read from the files that its compilation has written.</summary>
internal sealed class BuildMethodBodies
{
    public const string Pattern = $"*{MethodBodyFile.Suffix}";

    private readonly SortedDictionary<string, KnownMethodBodies> _byAssembly = new(StringComparer.Ordinal);

    private BuildMethodBodies()
    {
    }

    /// <summary>A build none of whose methods can be suspended.</summary>
    public static BuildMethodBodies None => new();

    public IReadOnlyList<string> Assemblies => [.. _byAssembly.Keys];

    /// <summary>
    /// Returns the bodies of an assembly, or null where the build has none of that name or it has no method that can be suspended.
    /// </summary>
    public KnownMethodBodies? Of(string assembly) => _byAssembly.GetValueOrDefault(assembly);

    /// <summary>Reads the files at these places: files, or directories with such files.</summary>
    /// <exception cref="ToolMisuse">A place is not there, holds no such file, or one that cannot be read.</exception>
    public static BuildMethodBodies Load(IEnumerable<string> places)
    {
        var build = new BuildMethodBodies();
        foreach (string place in places)
        {
            string[] files = Directory.Exists(place) ? Directory.GetFiles(place, Pattern) : [place];
            if (files.Length == 0)
                throw new ToolMisuse($"'{place}' holds no {Pattern}",
                    "a build whose methods can be suspended writes one beside each assembly", "give the directory of the built app");
            foreach (string file in files.Order(StringComparer.Ordinal)) build.Add(file);
        }
        return build;
    }

    private void Add(string file)
    {
        const string Mend = "give the file that the build has written, <assembly>.suspend.json";
        string name = Path.GetFileName(file);
        if (!File.Exists(file)) throw new ToolMisuse($"'{file}' is not there", "", Mend);
        if (!name.EndsWith(MethodBodyFile.Suffix, StringComparison.Ordinal)) throw new ToolMisuse($"'{file}' is no {Pattern}", "", Mend);
        try
        {
            List<MethodBodyRow> rows = MethodBodyFile.Read(File.ReadAllBytes(file), mvid: null)
                ?? throw new ToolMisuse($"'{file}' has a newer form", "it was written by a later version of the generator",
                    "use the tool of that version");
            _byAssembly[name[..^MethodBodyFile.Suffix.Length]] = new KnownMethodBodies(rows);
        }
        catch (JsonException e)
        {
            throw new ToolMisuse($"'{file}' cannot be read", e.Message, Mend);
        }
    }
}
