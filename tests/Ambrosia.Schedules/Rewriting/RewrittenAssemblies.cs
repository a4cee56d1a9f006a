using System.Reflection;
using System.Runtime.Loader;

namespace Ambrosia.Schedules.Rewriting;

/// <summary>
/// Loads rewritten copies of the product's assemblies and of the scenarios', beside the originals: whatever the copies refer to among
/// themselves is a copy too. One such set holds one plant, or none. Its assemblies are rewritten when they are first needed.
/// </summary>
public sealed class RewrittenAssemblies(string scenarios, Plant? plant) : AssemblyLoadContext($"rewritten {plant?.Name}")
{
    /// <summary>
    /// It is copied as it is. Its simulated disk and time take locks, but nobody comes to a step under one, so that they need none.
    /// </summary>
    private const string Kit = "Ambrosia.TestKit";

    private static readonly Dictionary<string, byte[]> s_plain = [];
    private readonly string _folder = Path.GetDirectoryName(scenarios)!;

    /// <summary>Makes the scenario of this name over the copies.</summary>
    public Scenario Make(string name)
    {
        Assembly of = LoadFromAssemblyName(new AssemblyName(Path.GetFileNameWithoutExtension(scenarios)));
        Type type = of.GetTypes().SingleOrDefault(each => each.Name == name && each.IsSubclassOf(typeof(Scenario)))
            ?? throw new ArgumentException($"there is no scenario '{name}'");
        return (Scenario)Activator.CreateInstance(type)!;
    }

    protected override Assembly? Load(AssemblyName assemblyName)
    {
        string path = Path.Combine(_folder, assemblyName.Name + ".dll");
        if (!IsOurs(assemblyName.Name!) || !File.Exists(path)) return null;
        if (assemblyName.Name == Kit) return LoadFromAssemblyPath(path);
        byte[] bytes = plant?.Touches(assemblyName.Name!) == true ? Rewriter.Rewrite(path, [plant]) : Plain(path);
        return LoadFromStream(new MemoryStream(bytes));
    }

    private static byte[] Plain(string path)
    {
        lock (s_plain)
        {
            if (!s_plain.TryGetValue(path, out byte[]? bytes)) s_plain.Add(path, bytes = Rewriter.Rewrite(path, []));
            return bytes;
        }
    }

    private static bool IsOurs(string name) =>
        name != "Ambrosia.Schedules" && (name == "CRA" || name.StartsWith("Ambrosia", StringComparison.Ordinal));
}
