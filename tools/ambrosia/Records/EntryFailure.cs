using Ambrosia.Protocol;

namespace Ambrosia.Tools;

/// <summary>A failure as it crossed (protocol P4.4).</summary>
internal sealed record EntryFailure(string Type, string Message, EntryFailure? Inner)
{
    public static EntryFailure Of(FailureInfo failure) =>
        new(failure.TypeName, failure.Message, failure.Inner is { } inner ? Of(inner) : null);

    public override string ToString() => $"{Clean(Type)}: {Clean(Message)}";

    /// <summary>One line, and nothing that a terminal obeys.</summary>
    private static string Clean(string text) => string.Concat(text.Select(static c => char.IsControl(c) ? ' ' : c));
}
