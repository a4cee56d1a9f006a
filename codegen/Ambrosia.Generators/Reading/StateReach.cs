using System.Collections.Generic;
using System.Linq;

namespace Ambrosia.Generators;

/// <summary>
/// Which types of an assembly can be state: immortals, [Data] types, what handlers keep in locals, and everything that the fields of these
/// are made of, with the classes that derive from it. A pure function of values.
/// </summary>
internal static class StateReach
{
    /// <summary>Those that have a codec, in order of their names.</summary>
    internal static EquatableArray<StateModel> Of(IReadOnlyCollection<StateModel> all, IEnumerable<string> kept)
    {
        Dictionary<string, StateModel> byId = all.GroupBy(static each => each.Id)
            .ToDictionary(static group => group.Key, static group => group.First());
        ILookup<string, StateModel> heirs = all.SelectMany(static each => each.Supertypes.Select(parent => (parent, each)))
            .ToLookup(static pair => pair.parent, static pair => pair.each);
        var reached = new HashSet<string>();
        var open = new Stack<string>(all.Where(static each => each.IsRoot).Select(static each => each.Id).Concat(kept));
        while (open.Count > 0)
        {
            string id = open.Pop();
            if (!reached.Add(id)) continue;
            foreach (StateModel heir in heirs[id]) open.Push(heir.Id);
            if (!byId.TryGetValue(id, out StateModel? model)) continue;
            foreach (string mentioned in model.Mentions) open.Push(mentioned);
        }
        return new EquatableArray<StateModel>(
            byId.Values.Where(each => each.Obstacle.Length == 0 && reached.Contains(each.Id))
                .OrderBy(static each => each.Id, System.StringComparer.Ordinal));
    }
}
