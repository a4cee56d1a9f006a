using System.Reflection;

namespace Ambrosia;

/// <summary>Where a writer is, for the message that names what cannot be written: a local of a method, a field, an element.</summary>
internal sealed class WritingPlace
{
    private FieldInfo? writing;
    private Type? elementOf;
    private BodyRow? suspended;
    private AwaitSite site;

    /// <summary>A delegate may stand here: a local, a parameter, a captured variable, the body of a task, which is one of these to who began it.</summary>
    internal bool IsLocal => elementOf is null && (IsOfAMethod || IsBodyOfATask);

    private bool IsBodyOfATask => writing?.DeclaringType is { IsGenericType: true } type && type.GetGenericTypeDefinition() == typeof(LambdaTask<>);

    /// <summary>In a field of a state machine or a closure.</summary>
    private bool IsOfAMethod => writing?.DeclaringType is { } type && GeneratedNames.IsGenerated(type.Name);

    internal void At(FieldInfo? field)
    {
        writing = field;
        elementOf = null;
    }

    internal void AtElementOf(Type collection) => elementOf = collection;

    /// <summary>The machine of a suspended method.</summary>
    internal void Enter(BodyRow row, OwnedType machine, int state)
    {
        suspended = row;
        site = machine.Sites.FirstOrDefault(each => each.State == state) is { File: not null } known ? known : new AwaitSite(state, "", 0, "");
    }

    public override string ToString()
    {
        if (IsBodyOfATask) return "the body of a task";
        if (IsOfAMethod) return $"{Local()}{(elementOf is not null ? $", an element of {Readable(elementOf)}" : "")}";
        return elementOf is not null ? $"an element of {Readable(elementOf)}"
            : writing is not null ? $"field {Readable(writing.DeclaringType!)}.{NameOf(writing)}"
            : "the state";
    }

    internal static string Readable(Type type)
    {
        if (!type.IsGenericType) return type.IsNested ? $"{type.DeclaringType!.Name}.{type.Name}" : ObjectShapes.IsOfSystem(type) ? type.FullName ?? type.Name : type.Name;
        int tick = type.Name.IndexOf('`', StringComparison.Ordinal);
        string name = tick < 0 ? type.Name : type.Name[..tick];
        return $"{name}<{string.Join(", ", type.GetGenericArguments().Select(Readable))}>";
    }

    private string Local()
    {
        Type type = writing!.DeclaringType!;
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
