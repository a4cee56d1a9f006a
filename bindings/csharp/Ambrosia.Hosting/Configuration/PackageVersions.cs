using System.Reflection;

namespace Ambrosia.Hosting.Configuration;

/// <summary>
/// Finds assemblies of ours that are of another version than this one: whoever restores packages only warns of it, and what comes of it
/// then is anybody's guess. It keeps nothing.
/// </summary>
internal static class PackageVersions
{
    /// <summary>Says which of the assemblies that this one needs, of ours, are not of its version.</summary>
    internal static IEnumerable<string> Faults() => Faults(Found());

    /// <param name="found">The assemblies with their versions; the first is the measure of the others.</param>
    internal static IEnumerable<string> Faults(IReadOnlyList<(string Name, string Version)> found) => found
        .Where(each => each.Version != found[0].Version)
        .Select(each => $"{each.Name} is of version {each.Version}, and {found[0].Name} of {found[0].Version}: generator, binding and "
            + "coordinator of a program are one build; refer to all packages of Ambrosia with the same version");

    /// <summary>The assemblies of ours that this one needs, itself first.</summary>
    internal static List<(string Name, string Version)> Found()
    {
        var found = new List<(string Name, string Version)>();
        var open = new Queue<Assembly>([typeof(PackageVersions).Assembly]);
        HashSet<string> known = [typeof(PackageVersions).Assembly.GetName().Name!];
        while (open.TryDequeue(out Assembly? assembly))
        {
            found.Add((assembly.GetName().Name!, VersionOf(assembly)));
            foreach (AssemblyName needed in assembly.GetReferencedAssemblies())
                if (IsOurs(needed.Name!) && known.Add(needed.Name!)) open.Enqueue(Assembly.Load(needed));
        }
        return found;
    }

    private static bool IsOurs(string name) =>
        name is "Ambrosia" or "CRA" || name.StartsWith("Ambrosia.", StringComparison.Ordinal);

    /// <summary>The package's version, without the commit behind it.</summary>
    private static string VersionOf(Assembly assembly) =>
        assembly.GetCustomAttribute<AssemblyInformationalVersionAttribute>()?.InformationalVersion.Split('+')[0] ?? "";
}
