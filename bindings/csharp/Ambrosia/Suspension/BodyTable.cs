// What the compiler made of the methods of one assembly of the app, by the names of this build and by those that every build agrees on.
// Read at first need, from the file beside the assembly or else from the assembly itself; kept. Any thread.
using System.Collections.Concurrent;
using System.Reflection;
using System.Text.Json;

namespace Ambrosia;

internal sealed class BodyTable
{
    private static readonly ConcurrentDictionary<Assembly, BodyTable> s_byAssembly = new();

    private readonly Assembly assembly;
    private readonly Dictionary<string, (BodyRow Row, OwnedType Type)> types = [];
    private readonly Dictionary<(string Type, string Name), (BodyRow Row, OwnedFunction Function)> functions = [];

    internal BodyTable(Assembly assembly, IReadOnlyCollection<BodyRow> all, string? missing = null)
    {
        this.assembly = assembly;
        Known = new KnownBodies(all, missing);
        foreach (BodyRow row in all)
        {
            foreach (OwnedType type in row.Types) types.TryAdd(type.Name, (row, type));
            foreach (OwnedFunction function in row.Functions) functions.TryAdd((function.Type, function.Name), (row, function));
        }
    }

    internal KnownBodies Known { get; }

    /// <summary>Why the bodies of this assembly could not be read; null: they were.</summary>
    internal string? Missing => Known.Missing;

    internal Assembly Assembly => assembly;

    internal static BodyTable Of(Assembly assembly) => s_byAssembly.GetOrAdd(assembly, Read);

    internal BodyRow? Row(string id) => Known.Row(id);

    /// <summary>What the compiler made this type of; null: it is nobody's.</summary>
    internal static (BodyRow Row, OwnedType Type)? OwnerOf(Type type)
    {
        Type definition = type.IsConstructedGenericType ? type.GetGenericTypeDefinition() : type;
        if (!GeneratedNames.IsGenerated(definition.Name) || definition.DeclaringType is null) return null;
        return Of(definition.Assembly).types.TryGetValue(definition.FullName!, out var found) ? found : null;
    }

    /// <summary>The method that a lambda or local function stands in; null: it is a method of its own.</summary>
    internal static (BodyRow Row, OwnedFunction Function)? OwnerOf(MethodInfo method)
    {
        if (!GeneratedNames.IsGenerated(method.Name) || method.DeclaringType is not { } declaring) return null;
        Type definition = declaring.IsConstructedGenericType ? declaring.GetGenericTypeDefinition() : declaring;
        return Of(definition.Assembly).functions.TryGetValue((definition.FullName!, method.Name), out var found) ? found : null;
    }

    /// <summary>The type that plays this role for a method now; null: none does.</summary>
    internal Type? Find(string id, string role) =>
        Row(id)?.Types.FirstOrDefault(each => each.Role == role) is { } found ? assembly.GetType(found.Name) : null;

    /// <summary>The function that plays this role for a method now, in its type as it is declared; null: none does.</summary>
    internal MethodInfo? FindFunction(string id, string role) =>
        Row(id)?.Functions.FirstOrDefault(each => each.Role == role) is { } found
            ? assembly.GetType(found.Type)?.GetMethod(found.Name,
                BindingFlags.Instance | BindingFlags.Static | BindingFlags.Public | BindingFlags.NonPublic | BindingFlags.DeclaredOnly)
            : null;

    private static BodyTable Read(Assembly assembly)
    {
        string? path = assembly.IsDynamic || assembly.Location.Length == 0 ? null : assembly.Location;
        string file = Path.Combine(path is null ? AppContext.BaseDirectory : Path.GetDirectoryName(path)!,
            assembly.GetName().Name + BodyFile.Suffix);
        try
        {
            if (File.Exists(file) && BodyFile.Read(File.ReadAllBytes(file), assembly.ManifestModule.ModuleVersionId) is { } rows)
                return new BodyTable(assembly, rows);
            if (path is not null) return new BodyTable(assembly, AssemblyBodies.Read(path, static (_, _) => null).Rows);
            return new BodyTable(assembly, [], $"{file} is missing or of another build");
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException or BadImageFormatException or JsonException)
        {
            return new BodyTable(assembly, [], $"{file}: {e.Message}");
        }
    }
}
