using Ambrosia.Protocol;

namespace Ambrosia;

/// <summary>A struct in place: always an array, even of no fields or with a null in front.</summary>
internal sealed class StructSlot<T> : Slot<T>
    where T : struct
{
    private readonly FieldPlan plan = FieldPlan.Of(typeof(T));

    internal override void Write(GraphWriter graph, ref CborWriter to, T value)
    {
        graph.Mention(typeof(T));
        plan.Write(graph, ref to, value);
    }

    internal override T Read(GraphReader graph, ref CborReader from)
    {
        object box = default(T);
        graph.PlanOf(typeof(T)).Read(graph, ref from, box);
        return (T)box;
    }
}
