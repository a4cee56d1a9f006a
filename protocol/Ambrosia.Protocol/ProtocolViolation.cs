namespace Ambrosia.Protocol;

/// <summary>
/// The other side broke the protocol: what it sent is malformed by the cited sentence of docs/protocol.md or docs/log-format.md.
/// The connection that carried it closes; the process goes on.
/// </summary>
public sealed class ProtocolViolation(string section, string what) : Exception($"{what} ({section})")
{
    /// <summary>The sentence, for instance "P2.1".</summary>
    public string Section { get; } = section;
}
