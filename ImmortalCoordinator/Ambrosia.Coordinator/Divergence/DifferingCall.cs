using Ambrosia.Protocol;
using Ambrosia.Protocol.Runs;

namespace Ambrosia.Coordinator.Divergence;

/// <summary>Describes the first call of a channel that is not the one that the history holds.</summary>
/// <param name="Number">On the channel.</param>
/// <param name="Expected">What its receiver's log says.</param>
/// <param name="Actual">What the app of this replica did.</param>
internal sealed record DifferingCall(InstanceId Destination, ulong Number, string Expected, string Actual)
{
    /// <summary>Null: it is the same call.</summary>
    public static DifferingCall? Of(
        InstanceId destination, ulong number, MessageKind expectedKind, ReadOnlySpan<byte> expected, MessageKind kind,
        ReadOnlySpan<byte> actual) =>
            kind == expectedKind && actual.SequenceEqual(expected) ? null
            : new DifferingCall(destination, number, CallText.Of(expectedKind, expected, actual), CallText.Of(kind, actual, expected));

    public override string ToString() => $"call {Number} to {Destination}: expected {Expected}; actual {Actual}";
}
