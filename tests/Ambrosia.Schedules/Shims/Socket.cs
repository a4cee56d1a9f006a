using System.Collections.Concurrent;
using System.Net;
using System.Net.Sockets;
using System.Runtime.InteropServices;

namespace Ambrosia.Schedules.Shims;

/// <summary>
/// Stands for <see cref="System.Net.Sockets.Socket"/>: a connected stream in memory, as far as our streams use one. A socket is bound to a
/// name and connected through it. What was sent arrives at once; a full peer makes senders wait.
/// </summary>
public sealed class Socket(AddressFamily family, SocketType type, ProtocolType protocol) : IDisposable, IWaitable
{
    private const int TryAgain = 11; // EAGAIN

    private static readonly ConcurrentDictionary<string, Socket> s_listening = new();
    private static readonly ConcurrentDictionary<nint, Socket> s_byHandle = new();
    private static long s_handles;

    private readonly Queue<byte> _received = new();
    private SafeSocketHandle? _handle;
    private Socket? _peer, _accepted;
    private bool _hasEndedSending, _hasEndedReceiving, _isDisposed;

    public AddressFamily AddressFamily => family;

    public SocketType SocketType => type;

    public ProtocolType ProtocolType => protocol;

    public int ReceiveTimeout { get; set; }

    public int SendTimeout { get; set; }

    /// <summary>So many bytes that the peer has not received make a sender wait.</summary>
    public int SendBufferSize { get; set; } = 4096;

    public int Available
    {
        get
        {
            Scheduler.Step(StepKind.SocketReceive);
            return _received.Count;
        }
    }

    /// <summary>A number by which <see cref="SendNow"/> finds the socket; nothing is open under it.</summary>
    public SafeSocketHandle SafeHandle
    {
        get
        {
            if (_handle is null)
            {
                _handle = new SafeSocketHandle((nint)Real.Increment(ref s_handles) + 1_000_000, ownsHandle: false);
                s_byHandle[_handle.DangerousGetHandle()] = this;
            }
            return _handle;
        }
    }

    private bool IsBroken => _hasEndedSending || _peer is null or { _isDisposed: true } or { _hasEndedReceiving: true };

    private bool IsAtEnd => _isDisposed || _hasEndedReceiving || _peer is null or { _hasEndedSending: true } or { _isDisposed: true };

    public void Bind(EndPoint to) => s_listening[to.ToString()!] = this;

    public void Listen()
    {
    }

    public void Connect(EndPoint to)
    {
        if (!s_listening.TryRemove(to.ToString()!, out Socket? listening)) throw new SocketException((int)SocketError.ConnectionRefused);
        _peer = listening._accepted = new Socket(family, type, protocol) { _peer = this };
    }

    public Socket Accept() => _accepted!;

    /// <summary>Returns whether a receive need not wait.</summary>
    public bool CanGo(ControlledThread thread) => _received.Count > 0 || IsAtEnd;

    public int Receive(byte[] into) => Receive(into.AsSpan());

    public int Receive(Span<byte> into) => Receive(into, SocketFlags.None, out _);

    public int Receive(Span<byte> into, SocketFlags flags, out SocketError error)
    {
        ObjectDisposedException.ThrowIf(_isDisposed, this);
        error = SocketError.Success;
        if (!Scheduler.Wait(this, StepKind.SocketReceive, ReceiveTimeout > 0))
        {
            error = SocketError.TimedOut;
            return 0;
        }
        int count = 0;
        while (count < into.Length && _received.TryDequeue(out byte next)) into[count++] = next;
        return count;
    }

    public int Send(ReadOnlySpan<byte> bytes)
    {
        for (int sent = 0; sent < bytes.Length;)
        {
            Scheduler.Wait(new Room(this), StepKind.SocketSend);
            sent += Take(bytes[sent..]);
        }
        return bytes.Length;
    }

    public int Send(byte[] bytes) => Send(bytes.AsSpan());

    private int Take(ReadOnlySpan<byte> bytes)
    {
        ObjectDisposedException.ThrowIf(_isDisposed, this);
        if (IsBroken) throw new SocketException((int)SocketError.ConnectionReset);
        int count = Math.Min(bytes.Length, SendBufferSize - _peer!._received.Count);
        foreach (byte each in bytes[..count]) _peer._received.Enqueue(each);
        return count;
    }

    /// <summary>Takes the place of the system's call that sends without waiting.</summary>
    public static unsafe nint SendNow(SafeHandle socket, byte* bytes, nuint length, int flags) =>
        SendNow(socket, new ReadOnlySpan<byte>(bytes, (int)length), length, flags);

    /// <inheritdoc cref="SendNow(SafeHandle, byte*, nuint, int)"/>
    public static nint SendNow(SafeHandle socket, ReadOnlySpan<byte> bytes, nuint length, int flags)
    {
        Scheduler.Step(StepKind.SocketSend);
        if (!s_byHandle.TryGetValue(socket.DangerousGetHandle(), out Socket? to)) throw new ObjectDisposedException(nameof(Socket));
        if (to.IsBroken) Marshal.SetLastPInvokeError(32); // EPIPE
        else if (to.Take(bytes[..(int)length]) is > 0 and var count) return count;
        else Marshal.SetLastPInvokeError(TryAgain);
        return -1;
    }

    public void Shutdown(SocketShutdown how)
    {
        Scheduler.Step(StepKind.SocketEnd);
        ObjectDisposedException.ThrowIf(_isDisposed, this);
        _hasEndedSending |= how != SocketShutdown.Receive;
        _hasEndedReceiving |= how != SocketShutdown.Send;
    }

    public void Dispose()
    {
        if (Scheduler.Current is { Scheduler.IsAborting: false }) Scheduler.Step(StepKind.SocketEnd);
        _isDisposed = true;
        if (_handle is not null) s_byHandle.TryRemove(_handle.DangerousGetHandle(), out _);
    }

    public void Close() => Dispose();

    public override string ToString() => "bytes from a socket";

    /// <summary>The real type; ours of that name would be a step.</summary>
    private static class Real
    {
        internal static long Increment(ref long at) => System.Threading.Interlocked.Increment(ref at);
    }

    private sealed class Room(Socket at) : IWaitable
    {
        public bool CanGo(ControlledThread thread) =>
            at._isDisposed || at.IsBroken || at._peer!._received.Count < at.SendBufferSize;

        public override string ToString() => "room in a socket";
    }
}
