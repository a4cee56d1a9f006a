using System.Runtime.CompilerServices;
using Ambrosia.Protocol;

namespace Ambrosia.State;

/// <summary>Writes an object by its fields. No constructor runs at a restore.</summary>
internal sealed class FieldsShape(Type type) : ObjectShape
{
    internal override FieldPlan Plan => FieldPlan.Of(type);

    internal override void Write(GraphWriter graph, ref CborWriter to, object instance) => Plan.Write(graph, ref to, instance);

    internal override object Allocate(GraphReader graph, ref CborReader from) => RuntimeHelpers.GetUninitializedObject(type);

    internal override void Fill(GraphReader graph, ref CborReader from, object instance) =>
        graph.PlanOf(type).Read(graph, ref from, instance);
}
