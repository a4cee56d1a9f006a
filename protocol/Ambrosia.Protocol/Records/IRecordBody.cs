namespace Ambrosia.Protocol;

/// <summary>
/// The body of one kind of log record (log-format L5). <c>Read(Write(x)) = x</c>, and <c>Read</c> refuses everything that
/// <c>Write</c> cannot have written.
/// </summary>
public interface IRecordBody<TSelf> where TSelf : IRecordBody<TSelf>
{
    static abstract RecordKind Kind { get; }

    void Write(ref PayloadWriter to);

    /// <exception cref="ProtocolViolation">L5.10.</exception>
    static abstract TSelf Read(ReadOnlySpan<byte> body);
}
