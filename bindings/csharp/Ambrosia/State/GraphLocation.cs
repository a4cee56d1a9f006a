using System.Reflection;
using Ambrosia.MethodBodies;
using Ambrosia.Suspension;

namespace Ambrosia.State;

/// <summary>
/// Says where a writer is, for the message that names what cannot be written: a local of a method, a field, an element. Thread: that of its
/// <see cref="GraphWriter"/>.
/// </summary>
internal sealed class GraphLocation
{
    private FieldInfo? _reflected;

    /// <summary>The codec whose generated code is at work, at the field below. It is null where <see cref="_reflected"/> says it.</summary>
    private StateCodec? _codec;
    private int _fieldOfCodec;
    private Type? _elementOf, _target;
    private MethodBodyRow? _suspended;
    private AwaitSite _site;

    /// <summary>Where collections were mentioned first, by their ids; null: nobody will ask for places.</summary>
    internal Dictionary<int, string>? Owners { get; init; }

    /// <summary>The id of the object that is being written.</summary>
    internal int Object { get; set; }

    /// <summary>The place, and of what is in a collection the place of that.</summary>
    internal string InObject => Owners?.TryGetValue(Object, out string? owner) == true ? $"what {owner} holds" : ToString();

    /// <summary>
    /// True if a delegate may stand here: it is a local, a parameter, a captured variable, or the body of a task, which is one of these for
    /// the method that began it.
    /// </summary>
    internal bool IsLocal => _elementOf is null && (IsOfAMethod || IsBodyOfATask);

    private bool IsBodyOfATask =>
        Writing?.DeclaringType is { } type && typeof(ITaskBody).IsAssignableFrom(type);

    /// <summary>True if this is a field of a state machine or a closure.</summary>
    private bool IsOfAMethod => Writing?.DeclaringType is { } type && GeneratedNames.IsGenerated(type.Name);

    private FieldInfo? Writing => _codec is null ? _reflected : StateFields.Of(_codec.Type)[_fieldOfCodec];

    internal void At(FieldInfo? writing)
    {
        _reflected = writing;
        _codec = null;
        _elementOf = null;
        _target = null;
    }

    internal void At(StateCodec of, int index)
    {
        _codec = of;
        _fieldOfCodec = index;
        _elementOf = null;
    }

    /// <summary>Moves to the object on which a delegate calls a method of this class.</summary>
    internal void AtTargetOf(Type declaring) => _target = declaring;

    /// <summary>Says whether the writer is at the <c>this</c> of a method, closure or lambda of this class.</summary>
    internal bool IsThisOf(Type type) =>
        _target is not null ? _target == type
        : IsOfAMethod && _elementOf is null && Writing!.Name == "<>4__this" && Writing.DeclaringType!.DeclaringType == type;

    internal void AtElementOf(Type collection) => _elementOf = collection;

    /// <summary>Moves into the machine of a method that is suspended at this state.</summary>
    internal void Enter(MethodBodyRow row, OwnedType machine, int state)
    {
        _suspended = row;
        _site = machine.Sites.FirstOrDefault(each => each.State == state) is { File: not null } known ? known
            : new AwaitSite(state, "", 0, "");
    }

    /// <summary>Says which field refers to an object that was restored: for a message, so it may take its time.</summary>
    internal static string HolderOf(IEnumerable<object?> objects, object held)
    {
        foreach (object? each in objects)
        {
            if (each is null || ObjectShapes.Of(each.GetType()) is not FieldsShape) continue;
            FieldInfo? field = Array.Find(StateFields.Of(each.GetType()),
                field => !field.FieldType.IsValueType && ReferenceEquals(field.GetValue(each), held));
            if (field is not null) return Named(field);
        }
        return "what another collection holds";
    }

    internal static string Named(FieldInfo field) => $"field {Readable(field.DeclaringType!)}.{NameOf(field)}";

    /// <summary>Names a field that may hold an object of a type, by the types of an image; empty: no class there has one.</summary>
    internal static string MayHold(ImageTypes types, Type held)
    {
        for (int row = 0; row < types.Count; row++)
        {
            if (types[(ulong)row].Type is not { } holder || ObjectShapes.Of(holder) is not FieldsShape) continue;
            FieldInfo? field = Array.Find(StateFields.Of(holder), field => Mentions(field.FieldType, held));
            if (field is not null) return $"{Named(field)}: ";
        }
        return "";
    }

    private static bool Mentions(Type declared, Type held) =>
        declared == held || (declared != typeof(object) && declared.IsAssignableFrom(held))
        || (declared.IsArray && Mentions(declared.GetElementType()!, held))
        || Array.Exists(declared.GetGenericArguments(), argument => Mentions(argument, held));

    public override string ToString()
    {
        if (IsBodyOfATask) return "the body of a task";
        if (IsOfAMethod) return $"{Local()}{(_elementOf is not null ? $", an element of {Readable(_elementOf)}" : "")}";
        return _elementOf is not null ? $"an element of {Readable(_elementOf)}"
            : Writing is { } place ? Named(place)
            : "the state";
    }

    internal static string Readable(Type type)
    {
        if (!type.IsGenericType)
            return type.IsNested ? $"{type.DeclaringType!.Name}.{type.Name}" : ObjectShapes.IsOfSystem(type)
                ? type.FullName ?? type.Name : type.Name;
        int tick = type.Name.IndexOf('`', StringComparison.Ordinal);
        string name = tick < 0 ? type.Name : type.Name[..tick];
        return $"{name}<{string.Join(", ", type.GetGenericArguments().Select(Readable))}>";
    }

    private string Local()
    {
        FieldInfo writing = Writing!;
        Type type = writing.DeclaringType!;
        string name = $"local '{NameOf(writing)}'";
        if (MethodBodyTable.OwnerOf(type) is not var (row, owned)) return $"{name} of {Readable(type)}";
        bool isMachine = owned.Role.EndsWith("machine", StringComparison.Ordinal);
        return isMachine && ReferenceEquals(row, _suspended) ? $"{name} of {row.Signature} at {_site}" : $"{name} of {row.Signature}";
    }

    private static string NameOf(FieldInfo field)
    {
        int end = field.Name.IndexOf('>', StringComparison.Ordinal);
        return field.Name.StartsWith('<') && end > 1 ? field.Name[1..end] : field.Name;
    }
}
