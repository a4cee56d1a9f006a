namespace Ambrosia.Protocol;

/// <summary>
/// The other side broke the protocol: what it sent is malformed by the cited sentence of docs/protocol.md or docs/log-format.md.
/// The connection that carried it closes; the process goes on. Met in a file it is damage, and the reading rules decide (log-format L8).
/// </summary>
public sealed class ProtocolViolation : Exception
{
    private readonly string _what;

    public ProtocolViolation(string section, string what) : this(section, what, null) { }

    public ProtocolViolation(string section, string what, Exception? cause) : this(section, what, null, cause) { }

    private ProtocolViolation(string section, string what, Lsn? lsn, Exception? cause)
        : base(lsn is null ? $"{what} ({section})" : $"record at Lsn {lsn}: {what} ({section})", cause)
    {
        Section = section;
        Lsn = lsn;
        _what = what;
    }

    /// <summary>The sentence, for instance "P2.1".</summary>
    public string Section { get; }

    /// <summary>Position of the log record that carried it, where there is one.</summary>
    public Lsn? Lsn { get; }

    /// <summary>The same violation with the position of the record that carried it.</summary>
    public ProtocolViolation At(Lsn lsn) => new(Section, _what, lsn, this);
}
