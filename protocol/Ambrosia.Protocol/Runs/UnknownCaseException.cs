namespace Ambrosia.Protocol.Runs;

/// <summary>
/// A value is a case of a union that this version of the contract does not have (docs/contract.md C3.11). It travels by the name and text
/// of protocol P4.6, so that whoever sent the value learns which case the other side does not know. Generated code throws it.
/// </summary>
public sealed class UnknownCaseException(string union, ulong number)
    : Exception(ListedFailures.UnknownCase(union, number).Message), IListedFailure
{
    /// <summary>The name of the union in its manifest.</summary>
    public string Union { get; } = union;

    /// <summary>The number that the value has.</summary>
    public ulong Number { get; } = number;

    FailureInfo IListedFailure.Failure => ListedFailures.UnknownCase(Union, Number);
}
