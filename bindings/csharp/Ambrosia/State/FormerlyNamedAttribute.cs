namespace Ambrosia;

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
