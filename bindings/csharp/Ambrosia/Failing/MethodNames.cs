using System.Reflection;
using Ambrosia.Protocol;

namespace Ambrosia;

/// <summary>Names of methods for people, found by the rule that made their ids (protocol P4.5). Off the hot path.</summary>
internal static class MethodNames
{
    /// <summary><c>Type.Method</c>, or the id where no contract of the type has it.</summary>
    internal static string Of(Type immortal, uint id)
    {
        foreach (Type contract in immortal.GetInterfaces())
            foreach (MethodInfo method in contract.GetMethods())
                if (((uint?)method.GetCustomAttribute<MethodIdAttribute>()?.Id ?? MethodIds.Of(contract.Name, method.Name)) == id)
                    return $"{immortal.Name}.{method.Name}";
        return $"{immortal.Name}, method 0x{id:X},";
    }
}
