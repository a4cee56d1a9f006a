using System.Net.Sockets;
using Ambrosia.Protocol.Locking;

namespace CRA.Streams;

/// <summary>
/// The encrypted side of a TLS connection. While an acceptor's handshake runs, it is <i>fed</i>: the listener's thread gives it what has
/// arrived, and nothing in it ever waits. Afterwards it reads and writes the blocking socket itself, on the calling thread, so that the
/// asynchronous calls of SslStream end where they began. One reader and one writer at a time use it.
/// </summary>
internal sealed class TlsWire(Socket socket, bool isFed) : Stream
{
    private readonly RankedLock _sending = new(LockRank.TlsWire);

    private bool _isFed = isFed;

    /// <summary>The fed bytes that nobody has read.</summary>
    private ByteQueue _fed = new();
    private bool _hasEnded;

    /// <summary>The read that waits to be fed; null when none does.</summary>
    private TaskCompletionSource<int>? _reading;
    private Memory<byte> _into;

    /// <summary>The encrypted bytes that an inline send left behind. Guarded by <see cref="_sending"/>.</summary>
    private ByteQueue _unsent = new();

    private int _timeoutMs;

    /// <summary>A read that is not fed may take this long. The reader sets it.</summary>
    public int ReceiveTimeoutMs { private get; set; }

    /// <summary>The deadline of a dial: while it is set, a read may take the time that it returns, in ms.</summary>
    public Func<int>? TimeLeftMs { private get; set; }

    /// <summary>A send may wait for room; otherwise what the socket has no room for is kept. The writer sets it.</summary>
    public bool MayWait { private get; set; } = true;

    public bool HasMore => !_fed.IsEmpty || socket.Available > 0;

    /// <summary>A read waits for more, so that nobody is at work on what was fed.</summary>
    public bool IsHungry => Volatile.Read(ref _reading) is not null;

    public bool HasUnsent { get { using (_sending.Enter()) return !_unsent.IsEmpty; } }

    /// <summary>Gives it what has arrived; no bytes mean the end of the stream. The handshake goes on inside this call.</summary>
    public void Feed(ReadOnlySpan<byte> bytes)
    {
        if (bytes.IsEmpty) _hasEnded = true;
        _fed.Add(bytes);
        if (Interlocked.Exchange(ref _reading, null) is { } reading) reading.SetResult(TakeFed(_into.Span));
    }

    /// <summary>From now on it reads the socket itself. Nothing of what was fed is lost.</summary>
    public void BeginLink() => (_isFed, TimeLeftMs) = (false, null);

    public override ValueTask<int> ReadAsync(Memory<byte> into, CancellationToken cancellation = default)
    {
        if (!_fed.IsEmpty || _hasEnded || into.IsEmpty) return new(TakeFed(into.Span));
        if (!_isFed) return new(Receive(into.Span));
        var reading = new TaskCompletionSource<int>();
        _into = into;
        Volatile.Write(ref _reading, reading);
        return new(reading.Task);
    }

    private int TakeFed(Span<byte> into)
    {
        int count = Math.Min(into.Length, _fed.Held.Length);
        _fed.Held[..count].CopyTo(into);
        _fed.Drop(count);
        if (_fed.IsEmpty) _fed.Clear();
        return count;
    }

    private int Receive(Span<byte> into)
    {
        LockChecks.BeforeWait();
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
            using (_sending.Enter()) Write(bytes.Span, mayWait: MayWait && !_isFed);
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
            LockChecks.BeforeWait();
            FlushWaiting();
            while (!bytes.IsEmpty) bytes = bytes[socket.Send(bytes)..];
            return;
        }
        if (_unsent.IsEmpty) bytes = bytes[SendNow(bytes)..];
        if (_isFed && !bytes.IsEmpty) throw new IOException("the other side does not read what it is sent");
        _unsent.Add(bytes);
    }

    /// <summary>
    /// Sends without waiting. Other systems than Linux have no such call, but a handshake's few kilobytes always have room.
    /// </summary>
    private int SendNow(ReadOnlySpan<byte> bytes) => OperatingSystem.IsLinux() ? LinkSocket.TrySend(socket, bytes) : socket.Send(bytes);

    /// <summary>Sends what was left over without waiting; returns whether nothing is left.</summary>
    public bool TryFlush()
    {
        using (_sending.Enter())
        {
            if (!_unsent.IsEmpty) _unsent.Drop(LinkSocket.TrySend(socket, _unsent.Held));
            return _unsent.IsEmpty;
        }
    }

    /// <summary>Drops what an inline send left, since the socket is gone.</summary>
    public void Abandon()
    {
        using (_sending.Enter()) _unsent.Clear();
    }

    public override void Flush()
    {
        using (_sending.Enter()) FlushWaiting();
    }

    private void FlushWaiting()
    {
        while (!_unsent.IsEmpty) _unsent.Drop(socket.Send(_unsent.Held));
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

/// <summary>Nothing arrived in time; the stream is as it was before the read.</summary>
internal sealed class WireTimeoutException() : IOException("nothing arrived in time");

/// <summary>
/// Keeps bytes in the order in which they came, in one array that grows as they need it, since a connection that keeps nothing shall cost
/// no memory. Invariant: <c>0 ≤ _start ≤ _end ≤ _bytes.Length</c>. It is a struct that changes: it stays in its field and is never copied.
/// </summary>
internal struct ByteQueue()
{
    private byte[] _bytes = [];
    private int _start;
    private int _end;

    public readonly bool IsEmpty => _end == _start;

    public readonly ReadOnlySpan<byte> Held => _bytes.AsSpan(_start, _end - _start);

    public void Add(ReadOnlySpan<byte> bytes)
    {
        if (bytes.IsEmpty) return;
        int held = _end - _start;
        if (_bytes.Length - _end < bytes.Length)
        {
            byte[] room = _bytes.Length >= held + bytes.Length ? _bytes : new byte[held + bytes.Length];
            Held.CopyTo(room);
            (_bytes, _start, _end) = (room, 0, held);
        }
        bytes.CopyTo(_bytes.AsSpan(_end));
        _end += bytes.Length;
    }

    /// <summary>Removes the first bytes; their room is used again.</summary>
    public void Drop(int count) => _start += count;

    /// <summary>Removes all bytes and lets their memory go.</summary>
    public void Clear() => (_bytes, _start, _end) = ([], 0, 0);
}
