using System.Text.Json;

namespace Ambrosia.Tools;

/// <summary>The suspendable bodies of a build, from the files that its compilation has left.</summary>
internal sealed class BuildBodies
{
    public const string Pattern = $"*{BodyFile.Suffix}";

    private readonly SortedDictionary<string, KnownBodies> _byAssembly = new(StringComparer.Ordinal);

    private BuildBodies()
    {
    }

    public IReadOnlyList<string> Assemblies => [.. _byAssembly.Keys];

    /// <summary>Null: the build has no such assembly, or it has no method that can be suspended.</summary>
    public KnownBodies? Of(string assembly) => _byAssembly.GetValueOrDefault(assembly);

    /// <exception cref="ToolMisuse">A place is not there, holds no such file, or one that cannot be read.</exception>
    public static BuildBodies Load(IEnumerable<string> places)
    {
        var build = new BuildBodies();
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
        if (!name.EndsWith(BodyFile.Suffix, StringComparison.Ordinal)) throw new ToolMisuse($"'{file}' is no {Pattern}", "", Mend);
        try
        {
            List<BodyRow> rows = BodyFile.Read(File.ReadAllBytes(file), mvid: null)
                ?? throw new ToolMisuse($"'{file}' has a newer form", "it was written by a later version of the generator",
                    "use the tool of that version");
            _byAssembly[name[..^BodyFile.Suffix.Length]] = new KnownBodies(rows);
        }
        catch (JsonException e)
        {
            throw new ToolMisuse($"'{file}' cannot be read", e.Message, Mend);
        }
    }
}
