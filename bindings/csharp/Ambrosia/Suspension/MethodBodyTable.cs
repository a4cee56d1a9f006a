using System.Collections.Concurrent;
using System.Reflection;
using System.Text.Json;
using Ambrosia.MethodBodies;

namespace Ambrosia.Suspension;

/// <summary>
/// Knows what the compiler made of the methods of one assembly of the app, by the names of this build and by those that every build agrees
/// on. It is read at first need, from the file beside the assembly or else from the assembly itself, and kept. Any thread may call it.
/// </summary>
internal sealed class MethodBodyTable
{
    private static readonly ConcurrentDictionary<Assembly, MethodBodyTable> s_byAssembly = new();

    private readonly Assembly _assembly;
    private readonly Dictionary<string, (MethodBodyRow Row, OwnedType Type)> _types = [];
    private readonly Dictionary<(string Type, string Name), (MethodBodyRow Row, OwnedFunction Function)> _functions = [];

    internal MethodBodyTable(Assembly assembly, IReadOnlyCollection<MethodBodyRow> all, string? missing = null)
    {
        _assembly = assembly;
        Known = new KnownMethodBodies(all, missing);
        foreach (MethodBodyRow row in all)
        {
            foreach (OwnedType type in row.Types) _types.TryAdd(type.Name, (row, type));
            foreach (OwnedFunction function in row.Functions) _functions.TryAdd((function.Type, function.Name), (row, function));
        }
    }

    internal KnownMethodBodies Known { get; }

    /// <summary>The reason for which the bodies of this assembly could not be read; null when they were.</summary>
    internal string? Missing => Known.Missing;

    internal Assembly Assembly => _assembly;

    internal static MethodBodyTable Of(Assembly assembly) => s_byAssembly.GetOrAdd(assembly, Read);

    internal MethodBodyRow? Row(string id) => Known.Row(id);

    /// <summary>Returns the method that the compiler made this type of; null when it made the type of none.</summary>
    internal static (MethodBodyRow Row, OwnedType Type)? OwnerOf(Type type)
    {
        Type definition = type.IsConstructedGenericType ? type.GetGenericTypeDefinition() : type;
        if (!GeneratedNames.IsGenerated(definition.Name) || definition.DeclaringType is null) return null;
        return Of(definition.Assembly)._types.TryGetValue(definition.FullName!, out var found) ? found : null;
    }

    /// <summary>Returns the method that a lambda or local function stands in; null when it is a method of its own.</summary>
    internal static (MethodBodyRow Row, OwnedFunction Function)? OwnerOf(MethodInfo method)
    {
        if (!GeneratedNames.IsGenerated(method.Name) || method.DeclaringType is not { } declaring) return null;
        Type definition = declaring.IsConstructedGenericType ? declaring.GetGenericTypeDefinition() : declaring;
        return Of(definition.Assembly)._functions.TryGetValue((definition.FullName!, method.Name), out var found) ? found : null;
    }

    /// <summary>Returns the type that plays this role for a method now; null when none does.</summary>
    internal Type? Find(string id, string role) =>
        Row(id)?.Types.FirstOrDefault(each => each.Role == role) is { } found ? _assembly.GetType(found.Name) : null;

    /// <summary>Returns the function that plays this role for a method now, in its type as it is declared; null when none does.</summary>
    internal MethodInfo? FindFunction(string id, string role) =>
        Row(id)?.Functions.FirstOrDefault(each => each.Role == role) is { } found
            ? _assembly.GetType(found.Type)?.GetMethod(found.Name,
                BindingFlags.Instance | BindingFlags.Static | BindingFlags.Public | BindingFlags.NonPublic | BindingFlags.DeclaredOnly)
            : null;

    private static MethodBodyTable Read(Assembly assembly)
    {
        string? path = assembly.IsDynamic || assembly.Location.Length == 0 ? null : assembly.Location;
        string file = Path.Combine(path is null ? AppContext.BaseDirectory : Path.GetDirectoryName(path)!,
            assembly.GetName().Name + MethodBodyFile.Suffix);
        try
        {
            if (File.Exists(file) && MethodBodyFile.Read(File.ReadAllBytes(file), assembly.ManifestModule.ModuleVersionId) is { } rows)
                return new MethodBodyTable(assembly, rows);
            if (path is not null) return new MethodBodyTable(assembly, AssemblyMethodBodies.Read(path, static (_, _) => null).Rows);
            return new MethodBodyTable(assembly, [], $"{file} is missing or of another build");
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException or BadImageFormatException or JsonException)
        {
            return new MethodBodyTable(assembly, [], $"{file}: {e.Message}");
        }
    }
}
