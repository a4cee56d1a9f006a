using System.Collections;
using System.Reflection;

namespace Ambrosia.State;

/// <summary>
/// Finds how a key of a collection leads back to the collection, for the message of one that cannot be restored since its keys are equal or
/// not by what it holds itself. It calls nothing of the app.
/// </summary>
internal static class KeyPath
{
    private const int ObjectsMax = 100_000;

    /// <summary>Returns the shortest way, <c>an element → field Person.Friends</c>; null: none was found.</summary>
    internal static string? Of(object collection)
    {
        var seen = new HashSet<object>(ReferenceEqualityComparer.Instance);
        var open = new Queue<(object Of, string Way)>();
        foreach ((object key, string step) in KeysOf(collection)) open.Enqueue((key, step));
        while (open.TryDequeue(out (object Of, string Way) at))
        {
            if (ReferenceEquals(at.Of, collection)) return at.Way;
            if (seen.Count == ObjectsMax || !seen.Add(at.Of)) continue;
            foreach ((object next, string step) in PartsOf(at.Of))
                open.Enqueue((next, step.Length == 0 ? at.Way : $"{at.Way} → {step}"));
        }
        return null;
    }

    private static IEnumerable<(object, string)> KeysOf(object collection) => collection is IDictionary map
        ? map.Keys.Cast<object>().Select(static key => (key, "a key")) : Items((IEnumerable)collection, "an element");

    private static IEnumerable<(object, string)> PartsOf(object of)
    {
        Type type = of.GetType();
        if (type == typeof(string) || KeyLooks.IsPlain(type)) return [];
        if (of is IEnumerable items && (type.IsArray || ObjectShapes.IsOfSystem(type)))
            return Items(items, type.IsArray ? "an element" : $"an element of {GraphLocation.Readable(type)}");
        bool isOfSystem = ObjectShapes.IsOfSystem(type); // a tuple or a pair, the names of whose fields say nothing
        if (isOfSystem && ObjectShapes.HowOf(type) != Kept.Fields) return [];
        return StateFields.Of(type).Select(field => (Value: field.GetValue(of), Step: isOfSystem ? "" : GraphLocation.Named(field)))
            .Where(static each => each.Value is not null).Select(static each => (each.Value!, each.Step));
    }

    private static IEnumerable<(object, string)> Items(IEnumerable of, string step) =>
        of.Cast<object?>().Where(static each => each is not null).Select(each => (each!, step));
}
