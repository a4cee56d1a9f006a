using System.Reflection;

namespace Ambrosia.Suspension;

/// <summary>Names methods for people, as their source does.</summary>
internal static class MethodNames
{
    /// <summary>Returns the name of a method; that of a lambda or of an async method is the method's in whose code it stands.</summary>
    internal static string Of(MethodInfo method) => Of(method.DeclaringType, method.Name);

    /// <summary>Returns the name of the async method whose state machine this is.</summary>
    internal static string OfMachine(Type machine) => Of(machine.DeclaringType, machine.Name);

    /// <param name="name">A name of the source, or one that the compiler has made of it: <c>&lt;Method&gt;b__7_0</c>.</param>
    private static string Of(Type? type, string name)
    {
        while (type is { DeclaringType: { } outer } && type.Name.StartsWith('<')) type = outer;
        int end = name.IndexOf('>');
        string plain = name.StartsWith('<') && end > 1 ? name[1..end] : name;
        return type is null ? plain : $"{type.FullName ?? type.Name}.{plain}";
    }
}
