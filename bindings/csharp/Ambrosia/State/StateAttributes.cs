namespace Ambrosia;

/// <summary>
/// Numbers a case of an interface or abstract class: in checkpoints objects of <paramref name="type"/> are known by this number instead of
/// their name, so that the class can be renamed or moved. An interface that numbers some of its classes numbers all
/// that are ever in the state. In a contract such an interface is a union: a value travels as the number of its case and the case's data,
/// so each case is marked <see cref="DataAttribute"/> there (docs/contract.md C3.11).
/// </summary>
/// <param name="number">0 or more, unique within the interface; never given to another class.</param>
/// <param name="type">A class or struct that is not generic.</param>
[AttributeUsage(AttributeTargets.Interface | AttributeTargets.Class, AllowMultiple = true, Inherited = false)]
public sealed class CaseAttribute(int number, Type type) : Attribute
{
    public int Number { get; } = number;

    public Type Type { get; } = type;
}

/// <summary>
/// Gives a name that a field, a property, or a class of the state had in earlier builds: checkpoints of those are read as if it had had the
/// new name already. Of a class give the full name in the form of <see cref="System.Type.FullName"/>.
/// </summary>
[AttributeUsage(AttributeTargets.Field | AttributeTargets.Property | AttributeTargets.Class | AttributeTargets.Struct
    | AttributeTargets.Enum, AllowMultiple = true, Inherited = false)]
public sealed class FormerlyNamedAttribute(string name) : Attribute
{
    public string Name { get; } = name;
}

/// <summary>
/// Leaves a field (or the field behind a property) out of checkpoints. After a restore it has its type's default, as no constructor and no
/// initializer runs then, so it has none (AMB134): make it where it is needed. It is for caches and for what threads started in
/// <c>BecomingPrimary</c> share.
/// </summary>
[AttributeUsage(AttributeTargets.Field | AttributeTargets.Property, Inherited = false)]
public sealed class NotStateAttribute : Attribute;

/// <summary>
/// Names the serializer of a type in checkpoints: on the type itself, or, for a type that is not yours, on the assembly of the immortal.
/// What it writes is the whole of the value: objects that it refers to are not shared with the rest of the state.
/// </summary>
/// <param name="serializer">A class with a constructor without parameters that implements <see cref="IStateSerializer{T}"/> once.</param>
[AttributeUsage(AttributeTargets.Class | AttributeTargets.Struct | AttributeTargets.Assembly, AllowMultiple = true, Inherited = false)]
public sealed class StateSerializerAttribute(Type serializer) : Attribute
{
    public Type Serializer { get; } = serializer;
}
