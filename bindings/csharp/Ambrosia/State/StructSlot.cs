using Ambrosia.Protocol;

namespace Ambrosia;

/// <summary>A struct in place: always an array, even of no fields or with a null in front.</summary>
internal sealed class StructSlot<T> : Slot<T>
    where T : struct
{
    private readonly FieldPlan plan = FieldPlan.Of(typeof(T));

    /// <summary>The graph in which the type was mentioned last; a lost race mentions it once more.</summary>
    private long mentionedIn;

    internal override void Write(GraphWriter graph, ref CborWriter to, T value)
    {
        if (mentionedIn != graph.Serial)
        {
            graph.Mention(typeof(T));
            mentionedIn = graph.Serial;
        }
        if (!plan.TryWrite(graph, ref to, value)) plan.Write(graph, ref to, value);
    }

    internal override T Read(GraphReader graph, ref CborReader from)
    {
        FieldPlan named = graph.PlanOf(typeof(T));
        var value = default(T);
        if (named.TryRead(graph, ref from, ref value)) return value;
        object box = value;
        named.Read(graph, ref from, box);
        return (T)box;
    }
}
