using Ambrosia.Protocol.Runs;

namespace Ambrosia.Protocol.Records;

/// <summary>
/// Walks log records that stand one behind another (log-format L5): the records of a page, of a Deliver frame, or one spanning record that
/// was put together. Bodies are views on these bytes. Every violation names the record's position.
/// </summary>
/// <param name="records">Whole records, exactly.</param>
/// <param name="first">Position of the first record.</param>
public ref struct RecordReader(ReadOnlySpan<byte> records, Lsn first)
{
    private ReadOnlySpan<byte> _left = records;

    /// <summary>The position of the current record; before the first and after the last one, the position of what comes next.</summary>
    public Lsn Lsn { get; private set; } = first;

    /// <summary>The position after the current record.</summary>
    public Lsn End { get; private set; } = first;

    public RecordKind Kind { get; private set; }

    public ReadOnlySpan<byte> Body { get; private set; }

    /// <summary>The header and body of the current record.</summary>
    public ReadOnlySpan<byte> Whole { get; private set; }

    /// <summary>Goes to the next record; returns false after the last.</summary>
    /// <exception cref="ProtocolViolation">L5.1 (unknown, or a kind that nothing writes yet) or L5.10, with the Lsn.</exception>
    public bool Next()
    {
        Lsn = End;
        if (_left.IsEmpty) return false;
        RecordHeader header = ReadHeader();
        int size = RecordHeader.Bytes + (int)header.Length;
        Kind = header.Kind;
        Whole = _left[..size];
        Body = _left[RecordHeader.Bytes..size];
        End = Lsn + size;
        _left = _left[size..];
        return true;
    }

    /// <summary>Reads the body of the current record.</summary>
    /// <exception cref="ProtocolViolation">L5.10 with the Lsn.</exception>
    public readonly T Read<T>() where T : IRecordBody<T>
    {
        if (T.Kind != Kind) throw new InvalidOperationException($"record at Lsn {Lsn} is {Kind}, not {T.Kind}");
        try
        {
            return T.Read(Body);
        }
        catch (ProtocolViolation violation)
        {
            throw violation.At(Lsn);
        }
    }

    /// <summary>Reads the run in the current record (Run or ImpulseRun), without walking its messages.</summary>
    /// <exception cref="ProtocolViolation">L5.2, L5.3 or a sentence of P3, with the Lsn.</exception>
    public readonly RunView ReadRun()
    {
        if (Kind is not (RecordKind.Run or RecordKind.ImpulseRun))
            throw new InvalidOperationException($"record at Lsn {Lsn} is {Kind}, not a run");
        try
        {
            RunView run = RunView.Read(Body);
            if (Kind == RecordKind.Run && !run.Header.IsNumbered) throw new ProtocolViolation("L5.2", $"run of kind {run.Header.Kind}");
            if (Kind == RecordKind.ImpulseRun && run.Header.Kind != MessageKind.Impulse)
                throw new ProtocolViolation("L5.3", $"run of kind {run.Header.Kind}");
            return run;
        }
        catch (ProtocolViolation violation)
        {
            throw violation.At(Lsn);
        }
    }

    /// <summary>Reads the client's request in the current record.</summary>
    /// <exception cref="ProtocolViolation">L5.10 with the Lsn.</exception>
    public readonly ClientRequestView ReadClientRequest()
    {
        if (Kind != RecordKind.ClientRequest)
            throw new InvalidOperationException($"record at Lsn {Lsn} is {Kind}, not a client's request");
        try
        {
            return ClientRequestView.Read(Body);
        }
        catch (ProtocolViolation violation)
        {
            throw violation.At(Lsn);
        }
    }

    private readonly RecordHeader ReadHeader()
    {
        try
        {
            RecordHeader header = RecordHeader.Read(_left);
            if (!RecordKinds.IsDefined(header.Kind))
                throw new ProtocolViolation("L5.1", $"{header.Kind} record: this version knows no such records, a newer one wrote it");
            return header;
        }
        catch (ProtocolViolation violation)
        {
            throw violation.At(Lsn);
        }
    }
}
