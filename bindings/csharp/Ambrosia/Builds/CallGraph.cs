using System.Text;

namespace Ambrosia.Builds;

/// <summary>
/// Finds what executing a method of the app may execute: a hull that is never too small. Direct calls lead to their methods; virtual ones
/// to all that the app's types fill them with; a type to its static constructor; a field or a cast that holds delegates to all functions
/// of which delegates of this type are made. What code outside may call back belongs to everything (<see cref="Common"/>), since an object
/// with an overridden member, or a delegate that was given away, may stand in the state for good.
/// </summary>
internal sealed class CallGraph
{
    /// <summary>Members that an interface of the app may have by chance as one outside has them; one method fills both then.</summary>
    private static readonly string[] s_ofInterfaces =
    [
        "Compare", "CompareTo", "Equals", "GetHashCode", "Dispose", "DisposeAsync", "GetEnumerator", "MoveNext", "get_Current", "get_Count",
        "get_Item", "Contains", "Add", "Remove", "CopyTo", "ToString", "Format", "Parse", "TryParse", "OnNext", "OnError", "OnCompleted",
    ];

    private readonly UnitReader _units;
    private readonly AppHandlers _handlers;
    private readonly Dictionary<VirtualMember, List<AppMethod>> _targets = [];
    private readonly Dictionary<string, List<AppMethod>> _functions = [];
    private readonly HashSet<AppType> _types = [], _made = [];
    private HashSet<AppMethod> _region = [];

    /// <summary>
    /// Finds the region that the app's immortals can reach. It grows with the types and the delegates that are met in it.
    /// </summary>
    internal CallGraph(UnitReader units, AppHandlers handlers)
    {
        (_units, _handlers) = (units, handlers);
        AppMethod[] roots = [.. handlers.ById.Values.SelectMany(static each => each.Dispatchers), .. handlers.First];
        for (int size = -1; size != Size();)
        {
            size = Size();
            Learn();
            _region = Reach([.. roots, .. Common, .. Resumed]);
        }
    }

    /// <summary>The methods that code outside may call at any time, by objects and delegates that it was given.</summary>
    internal List<AppMethod> Common { get; private set; } = [];

    /// <summary>The methods that answers, timers and results of tasks may execute: suspended methods and delegates.</summary>
    internal List<AppMethod> Resumed { get; private set; } = [];

    /// <summary>Returns the hash of all that executing these may execute.</summary>
    /// <param name="build">Stands for all code, where code that is found by its name is executed: that could be any.</param>
    internal string HashOf(IEnumerable<AppMethod> roots, string build)
    {
        var text = new StringBuilder();
        CodeUnit[] units = [.. Reach([.. roots, .. Common]).Select(_units.Of)];
        foreach (string each in units.Select(static unit => unit.Text).Order(StringComparer.Ordinal)) text.Append(each);
        if (units.Any(static unit => unit.RunsAnything)) text.Append(build);
        return Digest.Short(text);
    }

    private int Size() => _region.Count + _types.Count + Common.Count + Resumed.Count + _functions.Sum(static each => each.Value.Count);

    /// <summary>Takes up what the units of the region name.</summary>
    private void Learn()
    {
        _targets.Clear();
        foreach (AppMethod method in _region)
        {
            CodeUnit unit = _units.Of(method);
            foreach (AppType type in unit.Types) LearnType(type);
            _made.UnionWith(unit.Made);
            foreach ((AppMethod function, string type) in unit.Functions) LearnFunction(type, function);
        }
        Common = [.. _types.SelectMany(CalledBack).Concat(GivenAway()).Concat(ModuleConstructors()).Distinct()];
        Resumed = [.. ResumedRoots().Distinct()];
    }

    private void LearnFunction(string type, AppMethod function)
    {
        if (!_functions.TryGetValue(type, out List<AppMethod>? known)) _functions.Add(type, known = []);
        if (!known.Contains(function)) known.Add(function);
    }

    /// <summary>A type that is named can be there, and what its fields hold.</summary>
    private void LearnType(AppType type)
    {
        if (type.IsGenerated || !_types.Add(type)) return;
        var held = new NamedTypes(_units.Code, type.Assembly);
        foreach (var each in type.Definition.GetFields()) type.Assembly.Metadata.GetFieldDefinition(each).DecodeSignature(held, null);
        foreach (NamedType each in held.All)
            if (each.Type is not null) LearnType(each.Type);
        foreach (AppType parent in type.Parents) LearnType(parent);
    }

    private HashSet<AppMethod> Reach(IEnumerable<AppMethod> roots)
    {
        HashSet<AppMethod> reached = [.. roots];
        var open = new Stack<AppMethod>(reached);
        while (open.TryPop(out AppMethod? method))
            foreach (AppMethod next in Next(_units.Of(method)))
                if (reached.Add(next)) open.Push(next);
        return reached;
    }

    private IEnumerable<AppMethod> Next(CodeUnit unit)
    {
        foreach (AppMethod each in unit.Calls) yield return each;
        foreach (VirtualMember slot in unit.Slots)
            foreach (AppMethod each in Fill(slot)) yield return each;
        foreach (AppType type in unit.Types)
            if (type.StaticConstructor is { } constructor) yield return constructor;
        foreach (string held in unit.Held)
            foreach (AppMethod each in HeldBy(held)) yield return each;
        foreach (AppType type in unit.Serialized)
            foreach (AppMethod each in Serialized(type)) yield return each;
        if (unit.Resumes)
            foreach (AppMethod each in Resumed) yield return each;
    }

    /// <summary>Returns the functions of a delegate's type, and the iterators that stand behind an interface.</summary>
    private IEnumerable<AppMethod> HeldBy(string type) =>
        (_functions.GetValueOrDefault(type) ?? []).Concat(_functions.ContainsKey(type) ? _functions.GetValueOrDefault("") ?? [] : [])
            .Concat(_made.Where(each => each.ParentsOutside.Contains(type)).SelectMany(static each => each.Methods));

    /// <summary>Returns all that a virtual call may reach. Types are not told apart by their arguments.</summary>
    private List<AppMethod> Fill(VirtualMember slot)
    {
        if (_targets.TryGetValue(slot, out List<AppMethod>? known)) return known;
        IEnumerable<AppType> types = slot.Type is null ? _types.Where(type => MayFill(type, slot))
            : _units.Code.Types.Where(type => type.Ancestors.Contains(slot.Type));
        HashSet<AppMethod> found = [];
        foreach (AppType type in types)
            for (AppType? at = type; at is not null; at = at.Base)
                found.UnionWith(at.Methods.Where(method => method.Fills(slot.Name, slot.ParameterCount) && MayFill(method, slot)));
        _targets.Add(slot, known = [.. found]);
        return known;
    }

    /// <summary>A class outside may have the member by a base or an interface that the app's assemblies do not tell.</summary>
    private static bool MayFill(AppType type, VirtualMember slot) =>
        slot.Outside == "System.Object" || type.AncestorsOutside.Contains(slot.Outside);

    private static bool MayFill(AppMethod method, VirtualMember slot) =>
        slot.Type is not null || method.IsVirtual || method.Implements.Count > 0;

    /// <summary>
    /// Returns the members of a type that code outside can call: overrides of what is outside, and members of interfaces there.
    /// </summary>
    private static IEnumerable<AppMethod> CalledBack(AppType type)
    {
        if (type.IsInterface) return [];
        return type.Methods.Where(method => !AppHandlers.IsHook(method) && IsCalledBack(type, method));
    }

    private static bool IsCalledBack(AppType type, AppMethod method)
    {
        if (method.Implements.Exists(static each => each.Type is null)) return true;
        if (!method.IsVirtual) return false;
        bool isOfApp = type.Ancestors.Any(
            each => each != type && each.Methods.Exists(other => other.IsVirtual && other.Fills(method.Name, method.ParameterCount)
                && (each.IsInterface || !IsCalledBack(each, other))));
        if (!method.IsNewSlot) return !isOfApp;
        return type.AncestorsOutside.Any(static each => each != "System.Object")
            && (!isOfApp || s_ofInterfaces.Contains(method.Name));
    }

    /// <summary>
    /// Returns the functions of delegates that code outside took and may keep: those that are made where they are given away, else all of
    /// the delegate's type.
    /// </summary>
    private IEnumerable<AppMethod> GivenAway()
    {
        foreach (AppMethod method in _region)
        {
            CodeUnit unit = _units.Of(method);
            foreach (string type in unit.GivenAway)
            {
                if (!_functions.TryGetValue(type, out List<AppMethod>? all)) continue;
                List<AppMethod> here = [.. unit.Functions.Where(each => each.Delegate == type).Select(static each => each.Function)];
                foreach (AppMethod each in here.Count > 0 ? here : all) yield return each;
            }
        }
    }

    private IEnumerable<AppMethod> ModuleConstructors() =>
        _units.Code.Types.Where(static type => type.FullName == "<Module>").Select(static type => type.StaticConstructor)
            .OfType<AppMethod>();

    /// <summary>
    /// Returns what no record names: methods that the binding can suspend wherever they are, those of the region and all of immortals, with
    /// functions of which delegates are made, results that are decoded and encoded, and serializers of state.
    /// </summary>
    private IEnumerable<AppMethod> ResumedRoots()
    {
        foreach (AppType type in _units.Code.Types)
            if (IsMachineOfBinding(type)) foreach (AppMethod each in type.Methods) yield return each;
        foreach (AppMethod method in _region.Concat(_handlers.Own))
        {
            CodeUnit unit = _units.Of(method);
            foreach ((AppMethod function, _) in unit.Functions) yield return function;
            foreach (AppType type in unit.Made)
                if (type.Methods.Exists(static each => each.Name == "MoveNext")) foreach (AppMethod each in type.Methods) yield return each;
        }
        foreach (AppType type in _types)
            foreach (AppMethod each in type.Methods)
                if ((AppHandlers.IsImmortal(type) && each.Name == "WriteResult") || (AppHandlers.IsProxy(type) && each.Name == "Complete"))
                    yield return each;
        foreach (AppType type in _units.Code.Types)
            if (type.AncestorsOutside.Contains("Ambrosia.IStateSerializer`1"))
                foreach (AppMethod each in type.Methods) yield return each;
    }

    private static bool IsMachineOfBinding(AppType type) =>
        type.IsGenerated && type.ParentsOutside.Contains("System.Runtime.CompilerServices.IAsyncStateMachine")
        && type.Definition.GetFields().Select(type.Assembly.Metadata.GetFieldDefinition)
            .Any(field => type.Assembly.Names.TypeOf(field).StartsWith("Ambrosia.", StringComparison.Ordinal)
                && type.Assembly.Metadata.StringComparer.Equals(field.Name, "<>t__builder"));

    /// <summary>Returns what a serializer calls: constructors and properties of a type and of the types of its properties.</summary>
    private IEnumerable<AppMethod> Serialized(AppType type)
    {
        HashSet<AppType> seen = [];
        var open = new Stack<AppType>([type]);
        while (open.TryPop(out AppType? at))
        {
            if (!seen.Add(at) || AppHandlers.IsImmortal(at)) continue;
            var named = new NamedTypes(_units.Code, at.Assembly);
            foreach (var each in at.Definition.GetProperties())
                at.Assembly.Metadata.GetPropertyDefinition(each).DecodeSignature(named, null);
            foreach (NamedType each in named.All)
                if (each.Type is not null) open.Push(each.Type);
            foreach (AppMethod each in at.Methods)
                if (each.Name == ".ctor" || ((each.Attributes & System.Reflection.MethodAttributes.SpecialName) != 0
                    && (each.Name.StartsWith("get_", StringComparison.Ordinal) || each.Name.StartsWith("set_", StringComparison.Ordinal))))
                    yield return each;
        }
    }
}
