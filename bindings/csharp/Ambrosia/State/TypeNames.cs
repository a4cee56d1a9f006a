using System.Reflection;
using System.Text;

namespace Ambrosia;

/// <summary>Names of types in an image: with the assembly's simple name, without versions, so that a rebuilt app still finds them.</summary>
internal static class TypeNames
{
    internal static string Of(Type type)
    {
        var name = new StringBuilder();
        Append(name, type);
        return name.ToString();
    }

    /// <exception cref="InvalidDataException">This app has no such type.</exception>
    internal static Type Find(string name) =>
        Type.GetType(name, ResolveAssembly, typeResolver: null) ?? throw new InvalidDataException($"The image holds a {name}, which this app does not have.");

    private static void Append(StringBuilder to, Type type)
    {
        AppendFullName(to, type);
        to.Append(", ").Append(type.Assembly.GetName().Name);
    }

    private static void AppendFullName(StringBuilder to, Type type)
    {
        if (type.IsArray)
        {
            AppendFullName(to, type.GetElementType()!);
            to.Append('[').Append(',', type.GetArrayRank() - 1).Append(']');
            return;
        }
        if (!type.IsConstructedGenericType)
        {
            to.Append(type.FullName);
            return;
        }
        to.Append(type.GetGenericTypeDefinition().FullName).Append('[');
        Type[] arguments = type.GetGenericArguments();
        for (int i = 0; i < arguments.Length; i++)
        {
            to.Append(i == 0 ? "[" : ",[");
            Append(to, arguments[i]);
            to.Append(']');
        }
        to.Append(']');
    }

    private static Assembly? ResolveAssembly(AssemblyName name)
    {
        foreach (Assembly loaded in AppDomain.CurrentDomain.GetAssemblies())
            if (loaded.GetName().Name == name.Name) return loaded;
        try
        {
            return Assembly.Load(new AssemblyName(name.Name!));
        }
        catch (FileNotFoundException)
        {
            return null;
        }
    }
}
