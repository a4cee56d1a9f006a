namespace Ambrosia.Tools;

/// <summary>A method of a contract.</summary>
/// <param name="Contract">Name of the interface.</param>
/// <param name="IsRaw">The only argument is bytes as they are (protocol P4.2).</param>
/// <param name="Result">Null: there is none.</param>
/// <param name="IsResultRaw">The result is bytes as they are.</param>
internal sealed record ContractMethod(
    string Contract, string Name, uint Id, bool IsImpulse, bool IsRaw, IReadOnlyList<ContractField> Parameters, SchemaType? Result,
    bool IsResultRaw)
{
    public override string ToString() => $"{Contract}.{Name}";
}
