namespace Ambrosia;

/// <summary>
/// Gives a member of a <see cref="DataAttribute"/> type a number on the wire instead of its name: shorter, and free to be renamed.
/// </summary>
[AttributeUsage(AttributeTargets.Property | AttributeTargets.Field | AttributeTargets.Parameter, Inherited = false)]
public sealed class FieldAttribute(int number) : Attribute
{
    /// <summary>The number: 0 or more, unique within the type.</summary>
    public int Number { get; } = number;
}
