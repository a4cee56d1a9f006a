namespace Ambrosia.Protocol.Runs;

/// <summary>
/// A view on the header, the extension blocks and the messages of one whole run (protocol P3). It copies nothing and lives as long as the
/// bytes.
/// </summary>
public readonly ref struct RunView
{
    private RunView(RunHeader header, ReadOnlySpan<byte> extensions, ReadOnlySpan<byte> messages, uint first, uint end)
    {
        Header = header;
        Extensions = extensions;
        Messages = messages;
        (First, End) = (first, end);
    }

    /// <summary>The header of the whole run, of which this may be a part.</summary>
    public RunHeader Header { get; }

    /// <summary>The index in the run of the first message here, and of the one behind the last.</summary>
    public uint First { get; }

    public uint End { get; }

    /// <summary>The extension blocks, one behind another; an <see cref="ExtensionReader"/> walks them.</summary>
    public ReadOnlySpan<byte> Extensions { get; }

    /// <summary>The messages, one behind another; a <see cref="MessageReader"/> walks them.</summary>
    public ReadOnlySpan<byte> Messages { get; }

    /// <summary>Reads the header and splits the rest; neither blocks nor messages are walked.</summary>
    /// <exception cref="ProtocolViolation">P1.6, P3.1, P3.2, P3.5 or P3.8.</exception>
    public static RunView Read(ReadOnlySpan<byte> run)
    {
        RunHeader header = RunHeader.Read(run);
        int messagesAt = RunHeader.Bytes + (int)header.ExtensionBytes;
        return new RunView(header, run[RunHeader.Bytes..messagesAt], run[messagesAt..], 0, header.Count);
    }

    /// <summary>Returns some messages of this run, which is a whole one: whoever looks at the past stops inside runs.</summary>
    /// <exception cref="ProtocolViolation">P3.1 or P3.3: the run has fewer messages, or one of them is malformed.</exception>
    public RunView Part(uint first, uint end)
    {
        var messages = new MessageReader(this);
        int from = 0, at = 0;
        for (uint index = 0; index < end; index++)
        {
            if (index == first) from = at;
            if (!messages.Next()) throw new ProtocolViolation("P3.1", $"run says {Header.Count} messages and holds {index}");
            at += messages.Whole.Length;
        }
        return new RunView(Header, Extensions, end == Header.Count ? Messages[from..] : Messages[from..at], first, end);
    }

    /// <summary>Splits off the first messages, as many as are for one method. Part of what is left begins where they end.</summary>
    /// <param name="rest">The messages behind them; it has none where all are for the method.</param>
    /// <exception cref="ProtocolViolation">P3.1 or P3.3: there are fewer or more messages, or one of them is malformed.</exception>
    public RunView FirstOfOneMethod(out uint method, out RunView rest)
    {
        var messages = new MessageReader(this);
        uint end = First;
        int at = 0;
        for (method = 0; messages.Next() && (end == First || messages.Method == method); end++)
        {
            method = messages.Method;
            at += messages.Whole.Length;
        }
        bool isAll = at == Messages.Length;
        if (end == First || end > End || isAll != (end == End))
            throw new ProtocolViolation("P3.1", $"run says {Header.Count} messages and holds {(isAll ? "" : "more than ")}{end}");
        var first = new RunView(Header, Extensions, Messages[..at], First, end);
        rest = new RunView(Header, Extensions, Messages[at..], end, End); // last, since it may be this one
        return first;
    }

    /// <summary>Reads a run and checks everything in it. Each run that comes from outside passes here once.</summary>
    /// <param name="messageBytesMax">The connection's message limit (P3.4).</param>
    /// <exception cref="ProtocolViolation">P1.6, P4.5 or a section of P3; P3.5 if no Deliver frame could hold the run.</exception>
    public static RunView ReadWhole(ReadOnlySpan<byte> run, uint messageBytesMax)
    {
        if (run.Length > SizeLimits.RunBytesMax(messageBytesMax))
            throw new ProtocolViolation("P3.5",
                $"run of {run.Length} bytes where at most {SizeLimits.RunBytesMax(messageBytesMax)} are allowed");
        RunView view = Read(run);
        var blocks = new ExtensionReader(view.Extensions);
        while (blocks.Next()) { }
        int plain = MessageScanner.SkipPlain(view.Messages, view.Header, messageBytesMax, out uint count);
        ReadOnlySpan<byte> rest = view.Messages[plain..];
        MessageScanner.Check(rest, view.Header.Count, messageBytesMax, count);
        var messages = new MessageReader(rest, view.Header.Kind, view.Header.Keyed);
        while (messages.Next()) { }
        return view;
    }
}
