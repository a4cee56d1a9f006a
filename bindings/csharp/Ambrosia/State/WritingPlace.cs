using System.Reflection;

namespace Ambrosia;

/// <summary>Where a writer is, for the message that names what cannot be written: a local of a method, a field, an element.</summary>
internal sealed class WritingPlace
{
    private FieldInfo? reflected;

    /// <summary>Of generated code: which of its fields. Null: <see cref="reflected"/> says it.</summary>
    private StateCodec? codec;
    private int fieldOfCodec;
    private Type? elementOf, target;
    private BodyRow? suspended;
    private AwaitSite site;

    /// <summary>
    /// A delegate may stand here: a local, a parameter, a captured variable, the body of a task, which is one of these to who began it.
    /// </summary>
    internal bool IsLocal => elementOf is null && (IsOfAMethod || IsBodyOfATask);

    private bool IsBodyOfATask =>
        Writing?.DeclaringType is { IsGenericType: true } type && type.GetGenericTypeDefinition() == typeof(LambdaTask<>);

    /// <summary>In a field of a state machine or a closure.</summary>
    private bool IsOfAMethod => Writing?.DeclaringType is { } type && GeneratedNames.IsGenerated(type.Name);

    private FieldInfo? Writing => codec is null ? reflected : StateFields.Of(codec.Type)[fieldOfCodec];

    internal void At(FieldInfo? writing)
    {
        reflected = writing;
        codec = null;
        elementOf = null;
        target = null;
    }

    internal void At(StateCodec of, int index)
    {
        codec = of;
        fieldOfCodec = index;
        elementOf = null;
    }

    /// <summary>The object that a method of this class is called on by a delegate.</summary>
    internal void AtTargetOf(Type declaring) => target = declaring;

    /// <summary>In the place of a suspended method, closure or lambda where the object is that its method belongs to.</summary>
    internal bool IsThisOf(Type type) =>
        target is not null ? target == type
        : IsOfAMethod && elementOf is null && Writing!.Name == "<>4__this" && Writing.DeclaringType!.DeclaringType == type;

    internal void AtElementOf(Type collection) => elementOf = collection;

    /// <summary>The machine of a suspended method.</summary>
    internal void Enter(BodyRow row, OwnedType machine, int state)
    {
        suspended = row;
        site = machine.Sites.FirstOrDefault(each => each.State == state) is { File: not null } known ? known
            : new AwaitSite(state, "", 0, "");
    }

    public override string ToString()
    {
        if (IsBodyOfATask) return "the body of a task";
        if (IsOfAMethod) return $"{Local()}{(elementOf is not null ? $", an element of {Readable(elementOf)}" : "")}";
        return elementOf is not null ? $"an element of {Readable(elementOf)}"
            : Writing is { } place ? $"field {Readable(place.DeclaringType!)}.{NameOf(place)}"
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
        if (BodyTable.OwnerOf(type) is not var (row, owned)) return $"{name} of {Readable(type)}";
        bool isMachine = owned.Role.EndsWith("machine", StringComparison.Ordinal);
        return isMachine && ReferenceEquals(row, suspended) ? $"{name} of {row.Signature} at {site}" : $"{name} of {row.Signature}";
    }

    private static string NameOf(FieldInfo field)
    {
        int end = field.Name.IndexOf('>', StringComparison.Ordinal);
        return field.Name.StartsWith('<') && end > 1 ? field.Name[1..end] : field.Name;
    }
}
