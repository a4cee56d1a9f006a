using Ambrosia.Protocol;

namespace Ambrosia.State;

/// <summary>
/// Writes a struct in place as an array of its fields. It is always an array, even of no fields or with a null in front, so that it never
/// looks like null.
/// </summary>
internal sealed class StructSlot<T> : Slot<T>
    where T : struct
{
    private readonly FieldPlan _plan = FieldPlan.Of(typeof(T));

    /// <summary>The graph in which the type was mentioned last; a lost race mentions it once more.</summary>
    private long _mentionedIn;

    internal override void Write(GraphWriter graph, ref CborWriter to, T value)
    {
        if (_mentionedIn != graph.Serial)
        {
            graph.Mention(typeof(T));
            _mentionedIn = graph.Serial;
        }
        if (!_plan.TryWrite(graph, ref to, value)) _plan.Write(graph, ref to, value);
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
