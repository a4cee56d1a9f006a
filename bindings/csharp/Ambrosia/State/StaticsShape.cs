using System.Reflection;
using Ambrosia.Protocol;

namespace Ambrosia.State;

/// <summary>
/// Writes the compiler's one object for the lambdas without captures as null: it has no state, and each process has its own.
/// </summary>
internal sealed class StaticsShape(Type type) : ObjectShape
{
    internal override void Write(GraphWriter graph, ref CborWriter to, object instance) => to.WriteNull();

    internal override object Allocate(GraphReader graph, ref CborReader from)
    {
        from.ReadNull();
        return Of(type);
    }

    internal override void Fill(GraphReader graph, ref CborReader from, object instance)
    {
    }

    internal static object Of(Type type) => type.GetField("<>9", BindingFlags.Static | BindingFlags.Public)?.GetValue(null)
        ?? throw new InvalidDataException($"The image holds a {type}, which is not what it was.");
}
