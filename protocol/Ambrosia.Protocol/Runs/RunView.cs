namespace Ambrosia.Protocol;

/// <summary>
/// A view on one whole run (protocol P3): header, extension blocks, messages. It copies nothing and lives as long as the bytes.
/// </summary>
public readonly ref struct RunView
{
    private RunView(RunHeader header, ReadOnlySpan<byte> extensions, ReadOnlySpan<byte> messages)
    {
        Header = header;
        Extensions = extensions;
        Messages = messages;
    }

    public RunHeader Header { get; }

    /// <summary>Extension blocks one behind another: see <see cref="ExtensionReader"/>.</summary>
    public ReadOnlySpan<byte> Extensions { get; }

    /// <summary>Messages one behind another: see <see cref="MessageReader"/>.</summary>
    public ReadOnlySpan<byte> Messages { get; }

    /// <summary>Reads the header and splits the rest; neither blocks nor messages are walked.</summary>
    /// <exception cref="ProtocolViolation">P1.6, P3.1, P3.2, P3.5 or P3.8.</exception>
    public static RunView Read(ReadOnlySpan<byte> run)
    {
        RunHeader header = RunHeader.Read(run);
        int messagesAt = RunHeader.Bytes + (int)header.ExtensionBytes;
        return new RunView(header, run[RunHeader.Bytes..messagesAt], run[messagesAt..]);
    }

    /// <summary>The same, and walks everything: what came from outside passes here once.</summary>
    /// <param name="messageBytesMax">The connection's message limit (P3.4).</param>
    /// <exception cref="ProtocolViolation">P1.6 or one of P3 or P4.5; P3.5 of a run that no Deliver frame could hold.</exception>
    public static RunView ReadWhole(ReadOnlySpan<byte> run, uint messageBytesMax)
    {
        if (run.Length > Frames.RunBytesMax(messageBytesMax))
            throw new ProtocolViolation("P3.5",
                $"run of {run.Length} bytes where at most {Frames.RunBytesMax(messageBytesMax)} are allowed");
        RunView view = Read(run);
        var blocks = new ExtensionReader(view.Extensions);
        while (blocks.Next()) { }
        int plain = Protocol.Messages.SkipPlain(view.Messages, view.Header, messageBytesMax, out uint count);
        ReadOnlySpan<byte> rest = view.Messages[plain..];
        Protocol.Messages.Check(rest, view.Header.Count, messageBytesMax, count);
        var messages = new MessageReader(rest, view.Header.Kind, view.Header.Keyed);
        while (messages.Next()) { }
        return view;
    }
}
