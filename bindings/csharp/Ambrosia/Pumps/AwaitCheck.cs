using System.Reflection;
using System.Runtime.CompilerServices;
using Ambrosia.Calls;
using Ambrosia.MethodBodies;

namespace Ambrosia.Pumps;

/// <summary>
/// Refuses, when an app starts, awaits of something whose completion is not in the log. It is the second line behind the analyzer, and
/// needed because such an await throws only if it really suspends. It reads the fields of the state machines: every async method of type
/// Call keeps its awaiters in them.
/// </summary>
internal static class AwaitCheck
{
    private const BindingFlags All = BindingFlags.Instance | BindingFlags.Public | BindingFlags.NonPublic | BindingFlags.DeclaredOnly;

    /// <summary>Gives one line for each foreign awaiter in the assembly's methods that return Call, with file and line.</summary>
    internal static IEnumerable<string> Faults(Assembly assembly)
    {
        foreach (Type machine in assembly.GetTypes())
        {
            if (!machine.Name.StartsWith('<') || !typeof(IAsyncStateMachine).IsAssignableFrom(machine)) continue;
            if (machine.GetField("<>t__builder", All) is not { } builder || !IsOurs(builder.FieldType)) continue;
            foreach (FieldInfo field in machine.GetFields(All))
                if (field.Name.StartsWith("<>u__", StringComparison.Ordinal) && !IsAllowed(field.FieldType))
                    yield return PlaceOf(machine, field) + ForeignAwait.Of(field.FieldType, machine).Message;
        }
    }

    private static string PlaceOf(Type machine, FieldInfo field) =>
        AwaiterPlaces.Of(machine.Assembly.Location, machine.MetadataToken, field.Name) is { } place ? $"{place}: " : "";

    private static bool IsOurs(Type builder) =>
        builder == typeof(CallBuilder) || (builder.IsGenericType && builder.GetGenericTypeDefinition() == typeof(CallBuilder<>));

    /// <summary>
    /// True if the awaiter is one of ours. Awaiters of reference type share a field of type object: those are met when they suspend.
    /// </summary>
    private static bool IsAllowed(Type awaiter) => awaiter == typeof(object) || typeof(ICallAwaiter).IsAssignableFrom(awaiter);
}
