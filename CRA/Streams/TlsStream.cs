using System.Net.Security;
using System.Net.Sockets;

namespace CRA.Streams;

/// <summary>
/// Carries bytes through TLS. What is sent inline is encrypted and offered to the socket; what the socket has no room for waits in the wire
/// (one record at most) until the out thread flushes it.
/// </summary>
internal sealed class TlsStream(Socket socket, SslStream tls, TlsWire wire) : LinkStream(socket)
{
    /// <summary>An inline send takes at most one record's worth at a time, which bounds what the wire has to keep.</summary>
    private const int InlineBytesMax = 16 * 1024;

    /// <remarks>A read gives all whole records that TLS holds, if there is room. Behind them only the wire can have more.</remarks>
    public override bool IsDrainedBy(int received, int room) => received < room && !wire.HasMore;

    public override bool HasUnflushed => wire.HasUnsent;

    public override int Receive(Memory<byte> into, int timeoutMs)
    {
        wire.ReceiveTimeoutMs = timeoutMs;
        try
        {
            return Completed(tls.ReadAsync(into));
        }
        catch (WireTimeoutException)
        {
            return -1;
        }
        catch (IOException e)
        {
            throw Broken(e);
        }
    }

    public override int Send(ReadOnlyMemory<byte> bytes)
    {
        Flush();
        Write(bytes, mayWait: true);
        return bytes.Length;
    }

    public override int TrySend(ReadOnlyMemory<byte> bytes)
    {
        if (!OperatingSystem.IsLinux() || !wire.TryFlush()) return 0;
        ReadOnlyMemory<byte> part = bytes.Length <= InlineBytesMax ? bytes : bytes[..InlineBytesMax];
        Write(part, mayWait: false);
        return part.Length;
    }

    public override void Flush() => wire.Flush();

    private void Write(ReadOnlyMemory<byte> bytes, bool mayWait)
    {
        wire.MayWait = mayWait;
        try
        {
            ValueTask written = tls.WriteAsync(bytes);
            if (!written.IsCompleted) throw new InvalidOperationException("A send through TLS did not end where it began.");
            written.GetAwaiter().GetResult();
        }
        catch (IOException e)
        {
            throw Broken(e);
        }
        finally
        {
            wire.MayWait = true;
        }
    }

    private static int Completed(ValueTask<int> task) =>
        task.IsCompleted ? task.GetAwaiter().GetResult()
        : throw new InvalidOperationException("A receive through TLS did not end where it began.");

    private static SocketException Broken(IOException e) =>
        e.GetBaseException() as SocketException ?? new SocketException((int)SocketError.ConnectionReset, e.GetBaseException().Message);

    public override void Dispose()
    {
        base.Dispose();
        wire.Abandon(); // or TLS would flush it to the socket that is gone
        tls.Dispose();
        wire.Dispose();
    }
}
