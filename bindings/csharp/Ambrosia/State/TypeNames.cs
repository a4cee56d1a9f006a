using System.Collections.Concurrent;
using System.Reflection;
using Ambrosia.MethodBodies;
using Ambrosia.Protocol;
using Ambrosia.Suspension;

namespace Ambrosia.State;

/// <summary>
/// Writes and reads types in an image by names without versions and without the compiler's ordinals, so that a rebuilt app still finds
/// them.
/// </summary>
/// <remarks>
/// A name is one of these:
/// <list type="bullet">
/// <item>the text <c>Namespace.Type, Assembly</c></item>
/// <item>the text <c>@method id/role, Assembly</c> for what the compiler made of a method</item>
/// <item>the text <c>%member,member, Assembly</c> for an anonymous type</item>
/// <item>the text <c>#number Namespace.Interface, Assembly</c> for a numbered case</item>
/// <item>the array <c>[rank, element]</c> for an array, where rank 0 means a plain one</item>
/// <item>the array <c>[text, argument, …]</c> for a generic instance</item>
/// </list>
/// </remarks>
internal static class TypeNames
{
    /// <summary>The limit of arrays and generic arguments within each other, of what is written and of what is read.</summary>
    internal const int DepthMax = 32;
    private const char Made = '@', Anonymous = '%', Case = '#';

    /// <summary>By name; never more than were loaded.</summary>
    private static readonly ConcurrentDictionary<string, WeakReference<Assembly>> s_found = new();

    /// <param name="moving">The image is for another class of immortal; null: for this one.</param>
    internal static void Write(ref CborWriter to, Type type, StateMigration? moving)
    {
        if (type.IsArray)
        {
            to.WriteArrayHeader(2);
            to.WriteUInt64(type.IsSZArray ? 0 : (ulong)type.GetArrayRank());
            Write(ref to, type.GetElementType()!, moving);
            return;
        }
        if (!type.IsConstructedGenericType)
        {
            to.WriteString(Of(type, moving));
            return;
        }
        Type[] arguments = type.GetGenericArguments();
        to.WriteArrayHeader(1 + arguments.Length);
        to.WriteString(Of(type.GetGenericTypeDefinition(), moving));
        foreach (Type argument in arguments) Write(ref to, argument, moving);
    }

    /// <summary>Says whether a type has more arrays and generic types in each other than <see cref="Read"/> takes.</summary>
    internal static bool IsTooDeep(Type type, int depth = 0) =>
        depth > DepthMax
        || (type.IsArray ? IsTooDeep(type.GetElementType()!, depth + 1)
            : type.IsConstructedGenericType && Array.Exists(type.GetGenericArguments(), each => IsTooDeep(each, depth + 1)));

    /// <summary>
    /// Reads a name and returns its type. The result is null when this app has no such type, or not one of those that it is made of; then
    /// <paramref name="missing"/> is its name.
    /// </summary>
    /// <param name="kept">Where methods go on whose bodies are kept.</param>
    internal static Type? Read(ref CborReader from, KeptBodies kept, out string? missing, int depth = 0)
    {
        if (depth > DepthMax) throw new InvalidDataException("The image names a type that is nested too deeply.");
        if (from.PeekKind() != CborKind.Array) return Find(from.ReadString(), kept, out missing);
        int items = from.ReadArrayHeader();
        if (from.PeekKind() == CborKind.Unsigned)
        {
            int rank = from.ReadInt32();
            if (items != 2 || rank > 32) throw new InvalidDataException($"The image names an array of rank {rank}.");
            Type? element = Read(ref from, kept, out missing, depth + 1);
            return rank == 0 ? element?.MakeArrayType() : element?.MakeArrayType(rank);
        }
        if (items < 2) throw new InvalidDataException("The image names a generic type without arguments.");
        Type? definition = Find(from.ReadString(), kept, out missing);
        var arguments = new Type?[items - 1];
        for (int i = 0; i < arguments.Length; i++)
        {
            arguments[i] = Read(ref from, kept, out string? missingArgument, depth + 1);
            missing ??= missingArgument;
        }
        if (missing is not null) return null;
        if (!definition!.IsGenericTypeDefinition || definition.GetGenericArguments().Length != arguments.Length)
            throw new InvalidDataException($"The image names a {definition} of {arguments.Length} arguments.");
        return definition.MakeGenericType(arguments!);
    }

    /// <summary>Returns the name of what the compiler made of a method: <c>method id/role, Assembly</c>.</summary>
    internal static string OfMade(MethodBodyRow row, string role, Assembly assembly, StateMigration? moving)
    {
        string name = assembly.GetName().Name!;
        return moving is null ? $"{Made}{row.Id}/{role}, {name}" : $"{Made}{moving.IdOf(row)}/{role}, {moving.AssemblyOf(row.Id, name)}";
    }

    /// <summary>
    /// Takes the name of what the compiler made of a method apart, and gives the id of the method in which it goes on. The table is null
    /// when the app has no such assembly.
    /// </summary>
    internal static (MethodBodyTable? Table, string Id, string Role) PartsOfMade(string name, KeptBodies kept)
    {
        int comma = name.LastIndexOf(", ", StringComparison.Ordinal), colon = name.LastIndexOf("):", StringComparison.Ordinal);
        int slash = colon < 0 ? -1 : name.IndexOf('/', colon);
        if (comma < 0 || slash < 0 || slash > comma) throw new InvalidDataException($"The image names '{name}'.");
        string assembly = name[(comma + 2)..];
        return (AssemblyNamed(assembly) is { } found ? MethodBodyTable.Of(found) : null, kept.IdOf(assembly, name[1..slash]),
            name[(slash + 1)..comma]);
    }

    /// <summary>
    /// Finds an assembly by its name alone. A restore asks for the same few once an object, and each look goes through all that are loaded,
    /// so what was found is known until it is unloaded.
    /// </summary>
    internal static Assembly? AssemblyNamed(string name)
    {
        if (s_found.TryGetValue(name, out WeakReference<Assembly>? known) && known.TryGetTarget(out Assembly? assembly)) return assembly;
        assembly = LoadedOrOnDisk(name);
        if (assembly is not null) s_found[name] = new WeakReference<Assembly>(assembly);
        return assembly;
    }

    private static Assembly? LoadedOrOnDisk(string name)
    {
        foreach (Assembly loaded in AppDomain.CurrentDomain.GetAssemblies())
            if (loaded.GetName().Name == name) return loaded;
        try
        {
            return Assembly.Load(new AssemblyName(name));
        }
        catch (Exception e) when (e is IOException or BadImageFormatException)
        {
            return null;
        }
    }

    private static string Of(Type definition, StateMigration? moving)
    {
        if (MethodBodyTable.OwnerOf(definition) is var (row, made)) return OfMade(row, made.Role, definition.Assembly, moving);
        if (NumberedCases.NumberOf(definition) is var (parent, number))
            return $"{Case}{NumberedCases.Text(number)} {parent.FullName}, {parent.Assembly.GetName().Name}";
        return moving?.NameOfStatics(definition)
            ?? $"{(IsAnonymous(definition) ? $"{Anonymous}{Members(definition)}" : definition.FullName)}, {definition.Assembly.GetName().Name}";
    }

    private static bool IsAnonymous(Type definition) => definition.Name.StartsWith("<>f__AnonymousType", StringComparison.Ordinal);

    private static string Members(Type anonymous) => string.Join(',', anonymous.GetProperties().Select(static each => each.Name));

    private static Type? Find(string name, KeptBodies kept, out string? missing)
    {
        Type? found = name.StartsWith(Made) ? FindMade(name, kept) : name.StartsWith(Case) ? FindCase(name) : FindNamed(name);
        missing = found is null ? name : null;
        return found;
    }

    private static Type? FindMade(string name, KeptBodies kept)
    {
        (MethodBodyTable? table, string id, string role) = PartsOfMade(name, kept);
        return table?.Find(id, role);
    }

    private static Type? FindCase(string name)
    {
        int space = name.IndexOf(' ', StringComparison.Ordinal);
        if (space < 0 || !int.TryParse(name.AsSpan(1, space - 1), System.Globalization.NumberStyles.None, null, out int number))
            throw new InvalidDataException($"The image names '{name}'.");
        return FindNamed(name[(space + 1)..]) is { } parent ? NumberedCases.Find(parent, number) : null;
    }

    private static Type? FindNamed(string name)
    {
        int comma = name.LastIndexOf(", ", StringComparison.Ordinal);
        Assembly? assembly = comma < 0 ? null : AssemblyNamed(name[(comma + 2)..]);
        if (assembly is null) return null;
        string plain = name[..comma];
        if (name.StartsWith(Anonymous))
            return Array.Find(assembly.GetTypes(), type => IsAnonymous(type) && $"{Anonymous}{Members(type)}" == plain);
        return assembly.GetType(plain) ?? (ObjectShapes.IsOfSystem(assembly) ? null : Array.Find(assembly.GetTypes(), type =>
            type.GetCustomAttributes<FormerlyNamedAttribute>(inherit: false).Any(each => each.Name == plain)));
    }
}
