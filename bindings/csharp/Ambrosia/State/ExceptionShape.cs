using System.Runtime.CompilerServices;
using Ambrosia.Failures;
using Ambrosia.Protocol;

namespace Ambrosia.State;

/// <summary>
/// Writes an exception by its fields, and whose its text is: a runtime that words it otherwise cannot tell behind a restore, and it must
/// not travel in a failure then either (protocol P4.7). That stands in front of the help link, since an image knows fields alone; outside
/// of images nobody meets it there. No constructor runs at a restore.
/// </summary>
internal sealed class ExceptionShape(Type type) : ObjectShape
{
    /// <summary>Is data, in images of state.</summary>
    private const string RuntimesText = "[the text is the runtime's]";

    internal override TypeKind Kind => TypeKind.Class;

    internal override string[] Members(GraphWriter graph) => FieldPlan.Of(type).Describe(graph);

    internal override void Write(GraphWriter graph, ref CborWriter to, object instance)
    {
        var failure = (Exception)instance;
        ref string? link = ref LinkOf(failure);
        string? own = link;
        if (FailureWording.HoldsRuntimesText(failure)) link = RuntimesText + own;
        try
        {
            FieldPlan.Of(type).Write(graph, ref to, instance);
        }
        finally
        {
            link = own;
        }
    }

    internal override object Allocate(GraphReader graph, ref CborReader from) => RuntimeHelpers.GetUninitializedObject(type);

    internal override void Fill(GraphReader graph, ref CborReader from, object instance)
    {
        graph.PlanOf(type).Read(graph, ref from, instance);
        var failure = (Exception)instance;
        ref string? link = ref LinkOf(failure);
        if (link is null || !link.StartsWith(RuntimesText, StringComparison.Ordinal)) return;
        link = link.Length == RuntimesText.Length ? null : link[RuntimesText.Length..];
        FailureWording.Restored(failure);
    }

    [UnsafeAccessor(UnsafeAccessorKind.Field, Name = "_helpURL")]
    private static extern ref string? LinkOf(Exception failure);
}
