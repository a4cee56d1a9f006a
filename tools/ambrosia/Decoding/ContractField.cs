namespace Ambrosia.Tools;

/// <summary>A parameter of a method, or a field of a data type.</summary>
/// <param name="Number">Key of a data type's field on the wire; null: its name.</param>
internal sealed record ContractField(string Name, uint? Number, SchemaType Type);
