using System.Collections.Generic;
using System.Linq;
using Ambrosia.Generators.Roslyn;

namespace Ambrosia.Generators.State;

/// <summary>A field that is state, and the code that writes and reads it.</summary>
/// <param name="Name">The name in images.</param>
/// <param name="Metadata">The name in the compiled type.</param>
/// <param name="Declaring">The name of the type that declares it, from <c>global::</c> on.</param>
/// <param name="Type">The name of the field's type, from <c>global::</c> on.</param>
/// <param name="Write">A statement that writes the value {0} of the field with the index {1}.</param>
/// <param name="Read">An expression that reads a value.</param>
internal sealed record StateField(string Name, string Metadata, string Declaring, string Type, string Write, string Read);

/// <summary>
/// A class or struct that may be state. <see cref="StateReachability"/> decides whether it is, and so whether a codec is generated.
/// </summary>
/// <param name="Id">The name of its definition from <c>global::</c> on, by which other models refer to it.</param>
/// <param name="TypeName">The name of the type from <c>global::</c> on.</param>
/// <param name="Parameters">The type parameters of a generic type: <c>&lt;T&gt;</c>.</param>
/// <param name="Constraints">The constraints of the type parameters, as C#.</param>
/// <param name="Arity">The number of type parameters.</param>
/// <param name="Inside">The declarations of the types in which the codec must stand to see everything, outermost first; empty where it can
/// stand in the namespace.</param>
/// <param name="InsideName">The name of the innermost of them, from <c>global::</c> on.</param>
/// <param name="IsRoot">True of immortals and types marked [Data], which are state by themselves.</param>
/// <param name="Obstacle">The reason why reflection must write it and no codec is generated; empty where there is none.</param>
/// <param name="References">The definitions of which the types of its fields are made.</param>
/// <param name="Supertypes">The definitions that it derives from or implements.</param>
internal sealed record StateModel(
    string Id, string Namespace, string TypeName, string CodecName, string Parameters, string Constraints, int Arity,
    EquatableArray<string> Inside, string InsideName, bool IsReference, bool IsRoot, string Obstacle, EquatableArray<StateField> Fields,
    EquatableArray<string> References, EquatableArray<string> Supertypes);

/// <summary>
/// Decides which types of an assembly can be state. These are immortals, [Data] types, the types of locals in handlers, and everything of
/// which the fields of these are made, with the classes that derive from it. This is a pure function of models.
/// </summary>
internal static class StateReachability
{
    /// <summary>Returns the types that get a codec, in the order of their names.</summary>
    internal static EquatableArray<StateModel> Of(IReadOnlyCollection<StateModel> all, IEnumerable<string> localTypes)
    {
        Dictionary<string, StateModel> byId = all.GroupBy(static each => each.Id)
            .ToDictionary(static group => group.Key, static group => group.First());
        ILookup<string, StateModel> heirs = all.SelectMany(static each => each.Supertypes.Select(parent => (parent, each)))
            .ToLookup(static pair => pair.parent, static pair => pair.each);
        var reached = new HashSet<string>();
        var open = new Stack<string>(all.Where(static each => each.IsRoot).Select(static each => each.Id).Concat(localTypes));
        while (open.Count > 0)
        {
            string id = open.Pop();
            if (!reached.Add(id)) continue;
            foreach (StateModel heir in heirs[id]) open.Push(heir.Id);
            if (!byId.TryGetValue(id, out StateModel? model)) continue;
            foreach (string referenced in model.References) open.Push(referenced);
        }
        return new EquatableArray<StateModel>(
            byId.Values.Where(each => each.Obstacle.Length == 0 && reached.Contains(each.Id))
                .OrderBy(static each => each.Id, System.StringComparer.Ordinal));
    }
}
