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

/// <summary>
/// One call as an operator reads it beside another. Of long arguments a part is shown, around the first byte that differs.
/// </summary>
internal static class CallText
{
    private const int ShownBefore = 8, ShownMax = 32;

    /// <param name="message">Whole as it stands in its run.</param>
    /// <param name="other">The call that it is held against; empty: none.</param>
    public static string Of(MessageKind kind, ReadOnlySpan<byte> message, ReadOnlySpan<byte> other)
    {
        var one = new MessageReader(message, kind, keyed: false);
        one.Next();
        string method = one.Method > int.MaxValue ? $"{one.Method:x8}" : $"{one.Method}",
            call = one.CallId == 0 ? "" : $" with call id {one.CallId}";
        return $"a {kind.ToString().ToLowerInvariant()} of method {method}{call}, {one.Arguments.Length} bytes: {Shown(one.Arguments, FirstDifference(one.Arguments, kind, other))}";
    }

    private static int FirstDifference(ReadOnlySpan<byte> arguments, MessageKind kind, ReadOnlySpan<byte> other)
    {
        var two = new MessageReader(other, kind, keyed: false);
        return other.IsEmpty || !two.Next() ? 0 : arguments.CommonPrefixLength(two.Arguments);
    }

    private static string Shown(ReadOnlySpan<byte> bytes, int difference)
    {
        int from = bytes.Length <= ShownMax ? 0 : Math.Max(0, Math.Min(difference, bytes.Length) - ShownBefore);
        int count = Math.Min(ShownMax, bytes.Length - from);
        return count == 0 ? "none"
            : $"{(from > 0 ? $"[from {from}] …" : "")}{Convert.ToHexStringLower(bytes.Slice(from, count))}{(from + count < bytes.Length ? "…" : "")}";
    }
}
