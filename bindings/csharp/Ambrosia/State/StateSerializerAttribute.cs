namespace Ambrosia;

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
