// Types in an image: by names without versions and without the compiler's ordinals, so that a rebuilt app still finds them.
//   text: "Namespace.Type, Assembly"; "@method id/role, Assembly" for what the compiler made of a method
//   "%member,member, Assembly" for an anonymous type
//   [rank, element]: an array; rank 0 is a plain one.   [text, argument, …]: a generic instance
using System.Reflection;
using Ambrosia.Protocol;

namespace Ambrosia;

internal static class TypeNames
{
    /// <summary>Generic arguments within each other; deeper ones are no types of an app.</summary>
    private const int DepthMax = 32;
    private const char Made = '@', Anonymous = '%';

    internal static void Write(ref CborWriter to, Type type)
    {
        if (type.IsArray)
        {
            to.WriteArrayHeader(2);
            to.WriteUInt64(type.IsSZArray ? 0 : (ulong)type.GetArrayRank());
            Write(ref to, type.GetElementType()!);
            return;
        }
        if (!type.IsConstructedGenericType)
        {
            to.WriteString(Of(type));
            return;
        }
        Type[] arguments = type.GetGenericArguments();
        to.WriteArrayHeader(1 + arguments.Length);
        to.WriteString(Of(type.GetGenericTypeDefinition()));
        foreach (Type argument in arguments) Write(ref to, argument);
    }

    /// <exception cref="InvalidDataException">This app has no such type.</exception>
    internal static Type Read(ref CborReader from, int depth = 0)
    {
        if (depth > DepthMax) throw new InvalidDataException("The image names a type that is nested too deeply.");
        if (from.PeekKind() != CborKind.Array) return Find(from.ReadString());
        int items = from.ReadArrayHeader();
        if (from.PeekKind() == CborKind.Unsigned)
        {
            int rank = from.ReadInt32();
            if (items != 2 || rank > 32) throw new InvalidDataException($"The image names an array of rank {rank}.");
            Type element = Read(ref from, depth + 1);
            return rank == 0 ? element.MakeArrayType() : element.MakeArrayType(rank);
        }
        if (items < 2) throw new InvalidDataException("The image names a generic type without arguments.");
        Type definition = Find(from.ReadString());
        var arguments = new Type[items - 1];
        for (int i = 0; i < arguments.Length; i++) arguments[i] = Read(ref from, depth + 1);
        if (!definition.IsGenericTypeDefinition || definition.GetGenericArguments().Length != arguments.Length)
            throw new InvalidDataException($"The image names a {definition} of {arguments.Length} arguments.");
        return definition.MakeGenericType(arguments);
    }

    /// <summary>How a function that the compiler made of a method is named: <c>method id/role, Assembly</c>.</summary>
    internal static string OfMade(BodyRow row, string role, Assembly assembly) => $"{Made}{row.Id}/{role}, {assembly.GetName().Name}";

    /// <summary>Takes such a name apart; the table is null if the app has no such assembly.</summary>
    internal static (BodyTable? Table, string Id, string Role) PartsOfMade(string name)
    {
        int comma = name.LastIndexOf(", ", StringComparison.Ordinal), colon = name.LastIndexOf("):", StringComparison.Ordinal);
        int slash = colon < 0 ? -1 : name.IndexOf('/', colon);
        if (comma < 0 || slash < 0 || slash > comma) throw new InvalidDataException($"The image names '{name}'.");
        return (AssemblyNamed(name[(comma + 2)..]) is { } assembly ? BodyTable.Of(assembly) : null, name[1..slash], name[(slash + 1)..comma]);
    }

    internal static Assembly? AssemblyNamed(string name)
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

    private static string Of(Type definition) => BodyTable.OwnerOf(definition) is var (row, type)
        ? OfMade(row, type.Role, definition.Assembly)
        : $"{(IsAnonymous(definition) ? $"{Anonymous}{Members(definition)}" : definition.FullName)}, {definition.Assembly.GetName().Name}";

    private static bool IsAnonymous(Type definition) => definition.Name.StartsWith("<>f__AnonymousType", StringComparison.Ordinal);

    private static string Members(Type anonymous) => string.Join(',', anonymous.GetProperties().Select(static each => each.Name));

    private static Type Find(string name)
    {
        Type? found;
        if (name.StartsWith(Made))
        {
            (BodyTable? table, string id, string role) = PartsOfMade(name);
            found = table?.Find(id, role);
        }
        else
        {
            int comma = name.LastIndexOf(", ", StringComparison.Ordinal);
            Assembly? assembly = comma < 0 ? null : AssemblyNamed(name[(comma + 2)..]);
            found = name.StartsWith(Anonymous)
                ? Array.Find(assembly?.GetTypes() ?? [], type => IsAnonymous(type) && Members(type) == name[1..comma])
                : assembly?.GetType(name[..comma]);
        }
        return found ?? throw new InvalidDataException($"The image holds a {name}, which this app does not have.");
    }
}
