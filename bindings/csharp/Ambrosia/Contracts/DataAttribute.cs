namespace Ambrosia;

/// <summary>
/// Marks a record, class or struct that may be an argument or a result. Its public properties and fields travel as a map from name
/// (or number, see <see cref="FieldAttribute"/>) to value: unknown ones are skipped, missing ones keep their default (protocol P4.3).
/// </summary>
[AttributeUsage(AttributeTargets.Class | AttributeTargets.Struct, Inherited = false)]
public sealed class DataAttribute : Attribute;
