using System.Net.Sockets;

namespace CRA;

/// <summary>
/// The encrypted side of a TLS connection. While a stranger's handshake runs it is <i>fed</i>: the listener's thread gives it what has
/// arrived, and nothing in it ever waits. Afterwards it reads and writes the blocking socket itself, on the calling thread, so that the
/// asynchronous calls of SslStream end where they began. One reader and one writer at a time.
/// </summary>
internal sealed class TlsWire(Socket socket, bool isFed) : Stream
{
    private readonly Lock _sending = new();

    private bool _isFed = isFed;

    // Fed bytes that nobody has read: _fed[_fedStart.._fedEnd].
    private byte[] _fed = [];
    private int _fedStart;
    private int _fedEnd;
    private bool _hasEnded;

    // The read that waits to be fed.
    private TaskCompletionSource<int>? _reading;
    private Memory<byte> _into;

    // Encrypted bytes that an inline send left behind: _unsent[_unsentStart.._unsentEnd]. Guarded by _sending.
    private byte[] _unsent = [];
    private int _unsentStart;
    private int _unsentEnd;

    private int _timeoutMs;

    /// <summary>How long a read may take when it is not fed. Set by the reader.</summary>
    public int ReceiveTimeoutMs { private get; set; }

    /// <summary>A dial's deadline: how long a read may take at the moment, instead of the above.</summary>
    public Func<int>? TimeLeftMs { private get; set; }

    /// <summary>False: what the socket has no room for is kept and not waited for. Set by the writer.</summary>
    public bool MayWait { private get; set; } = true;

    public bool HasMore => _fedEnd > _fedStart || socket.Available > 0;

    /// <summary>Nobody is at work on what was fed: a read waits for more.</summary>
    public bool IsHungry => Volatile.Read(ref _reading) is not null;

    public bool HasUnsent { get { lock (_sending) return _unsentEnd > _unsentStart; } }

    /// <summary>Gives it what has arrived; of no bytes: the end of the stream. The conversation goes on inside this call.</summary>
    public void Feed(ReadOnlySpan<byte> bytes)
    {
        if (bytes.IsEmpty) _hasEnded = true;
        Keep(ref _fed, ref _fedStart, ref _fedEnd, bytes);
        if (Interlocked.Exchange(ref _reading, null) is { } reading) reading.SetResult(TakeFed(_into.Span));
    }

    /// <summary>From now on it reads the socket itself. Nothing of what was fed is lost.</summary>
    public void BeginLink() => (_isFed, TimeLeftMs) = (false, null);

    public override ValueTask<int> ReadAsync(Memory<byte> into, CancellationToken cancellation = default)
    {
        if (_fedEnd > _fedStart || _hasEnded || into.IsEmpty) return new(TakeFed(into.Span));
        if (!_isFed) return new(Receive(into.Span));
        var reading = new TaskCompletionSource<int>();
        _into = into;
        Volatile.Write(ref _reading, reading);
        return new(reading.Task);
    }

    private int TakeFed(Span<byte> into)
    {
        int count = Math.Min(into.Length, _fedEnd - _fedStart);
        _fed.AsSpan(_fedStart, count).CopyTo(into);
        _fedStart += count;
        if (_fedStart == _fedEnd) (_fed, _fedStart, _fedEnd) = ([], 0, 0);
        return count;
    }

    private int Receive(Span<byte> into)
    {
        int timeoutMs = TimeLeftMs?.Invoke() ?? ReceiveTimeoutMs;
        if (timeoutMs <= 0) throw new WireTimeoutException();
        if (timeoutMs != _timeoutMs) socket.ReceiveTimeout = _timeoutMs = timeoutMs;
        int received = socket.Receive(into, SocketFlags.None, out SocketError error);
        if (error == SocketError.Success) return received;
        throw error is SocketError.TimedOut or SocketError.WouldBlock ? new WireTimeoutException()
            : Broken(new SocketException((int)error));
    }

    public override ValueTask WriteAsync(ReadOnlyMemory<byte> bytes, CancellationToken cancellation = default)
    {
        try
        {
            lock (_sending) Write(bytes.Span, mayWait: MayWait && !_isFed);
        }
        catch (SocketException e)
        {
            throw Broken(e);
        }
        return default;
    }

    private void Write(ReadOnlySpan<byte> bytes, bool mayWait)
    {
        if (mayWait)
        {
            FlushWaiting();
            while (!bytes.IsEmpty) bytes = bytes[socket.Send(bytes)..];
            return;
        }
        if (_unsentEnd == _unsentStart) bytes = bytes[SendNow(bytes)..];
        if (_isFed && !bytes.IsEmpty) throw new IOException("the other side does not read what it is sent");
        Keep(ref _unsent, ref _unsentStart, ref _unsentEnd, bytes);
    }

    // Elsewhere than on Linux there is no send that does not wait; a handshake's few kilobytes always have room.
    private int SendNow(ReadOnlySpan<byte> bytes) => OperatingSystem.IsLinux() ? LinkSocket.TrySend(socket, bytes) : socket.Send(bytes);

    /// <summary>True when nothing is left over; does not wait.</summary>
    public bool TryFlush()
    {
        lock (_sending)
        {
            if (_unsentEnd > _unsentStart)
                _unsentStart += LinkSocket.TrySend(socket, _unsent.AsSpan(_unsentStart, _unsentEnd - _unsentStart));
            return _unsentEnd == _unsentStart;
        }
    }

    /// <summary>The socket is gone, and what an inline send left with it.</summary>
    public void Abandon()
    {
        lock (_sending) (_unsent, _unsentStart, _unsentEnd) = ([], 0, 0);
    }

    public override void Flush()
    {
        lock (_sending) FlushWaiting();
    }

    private void FlushWaiting()
    {
        while (_unsentEnd > _unsentStart) _unsentStart += socket.Send(_unsent.AsSpan(_unsentStart, _unsentEnd - _unsentStart));
    }

    private static void Keep(ref byte[] kept, ref int start, ref int end, ReadOnlySpan<byte> bytes)
    {
        if (bytes.IsEmpty) return;
        int held = end - start;
        if (kept.Length - end < bytes.Length)
        {
            byte[] room = kept.Length >= held + bytes.Length ? kept : new byte[held + bytes.Length];
            kept.AsSpan(start, held).CopyTo(room);
            (kept, start, end) = (room, 0, held);
        }
        bytes.CopyTo(kept.AsSpan(end));
        end += bytes.Length;
    }

    private static IOException Broken(SocketException e) => new(e.Message, e);

    public override bool CanRead => true;
    public override bool CanWrite => true;
    public override bool CanSeek => false;
    public override long Length => throw new NotSupportedException();
    public override long Position { get => throw new NotSupportedException(); set => throw new NotSupportedException(); }
    public override int Read(byte[] buffer, int offset, int count) => throw new NotSupportedException("TLS reads asynchronously here.");
    public override void Write(byte[] buffer, int offset, int count) => throw new NotSupportedException("TLS writes asynchronously here.");
    public override Task FlushAsync(CancellationToken cancellationToken) => Task.CompletedTask;
    public override long Seek(long offset, SeekOrigin origin) => throw new NotSupportedException();
    public override void SetLength(long value) => throw new NotSupportedException();
}

/// <summary>Nothing arrived in time; the stream is as it was.</summary>
internal sealed class WireTimeoutException() : IOException("nothing arrived in time");
