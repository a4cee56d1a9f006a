// The second line behind the analyzer: an await of something whose completion is not in the log throws only if it really suspends, so an
// app that holds one is refused when it starts. Every async method of type Call keeps its awaiters in fields of its state machine.
using System.Reflection;
using System.Runtime.CompilerServices;

namespace Ambrosia;

internal static class AwaitCheck
{
    private const BindingFlags All = BindingFlags.Instance | BindingFlags.Public | BindingFlags.NonPublic | BindingFlags.DeclaredOnly;

    /// <summary>One line for each foreign await in the assembly's methods that return Call; empty: none.</summary>
    internal static IEnumerable<string> Faults(Assembly assembly)
    {
        foreach (Type machine in assembly.GetTypes())
        {
            if (!machine.Name.StartsWith('<') || !typeof(IAsyncStateMachine).IsAssignableFrom(machine)) continue;
            if (machine.GetField("<>t__builder", All) is not { } builder || !IsOurs(builder.FieldType)) continue;
            foreach (FieldInfo field in machine.GetFields(All))
                if (field.Name.StartsWith("<>u__", StringComparison.Ordinal) && !IsAllowed(field.FieldType))
                    yield return ForeignAwait.Of(field.FieldType, machine).Message;
        }
    }

    private static bool IsOurs(Type builder) =>
        builder == typeof(CallBuilder) || (builder.IsGenericType && builder.GetGenericTypeDefinition() == typeof(CallBuilder<>));

    /// <summary>Awaiters of reference type share a field of type object: those are met when they suspend.</summary>
    private static bool IsAllowed(Type awaiter) => awaiter == typeof(object) || typeof(ICallAwaiter).IsAssignableFrom(awaiter);
}
