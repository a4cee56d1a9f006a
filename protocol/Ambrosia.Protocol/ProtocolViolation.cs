namespace Ambrosia.Protocol;

/// <summary>
/// The other side broke the protocol: what it sent is malformed by the cited section of docs/protocol.md or docs/log-format.md.
/// The connection that carried the bytes closes, and the process goes on. In a file a violation is damage, and the reading rules decide
/// what becomes of it (log-format L8).
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

    /// <summary>The section that was broken, for instance "P2.1".</summary>
    public string Section { get; }

    /// <summary>The position of the log record that carried the violation; null where it did not come from a log.</summary>
    public Lsn? Lsn { get; }

    /// <summary>Returns this violation with the position of the record that carried it.</summary>
    public ProtocolViolation At(Lsn lsn) => new(Section, _what, lsn, this);
}
