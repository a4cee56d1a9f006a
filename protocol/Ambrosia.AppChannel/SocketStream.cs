using System.Net.Sockets;
using System.Runtime.InteropServices;
using Ambrosia.Protocol.Locking;

namespace Ambrosia.AppChannel;

/// <summary>Carries bytes through a socket, which stays in blocking mode and belongs to whoever made it.</summary>
public sealed partial class SocketStream(Socket socket) : AppStream
{
    private const int DontWait = 0x40, NoSignal = 0x4000; // MSG_… of Linux
    private const int TryAgain = 11, Interrupted = 4; // errno
    private const short NoMoreToReceive = 0x2000; // POLLRDHUP; errors and the end of both directions are told in any case

    public override int Receive(Span<byte> into)
    {
        try
        {
            LockChecks.BeforeWait();
            int received = socket.Receive(into, SocketFlags.None, out SocketError error);
            return error == SocketError.Success ? received : 0;
        }
        catch (ObjectDisposedException)
        {
            return 0; // this side has ended the stream in the middle of the call
        }
    }

    public override void Send(ReadOnlySpan<byte> bytes)
    {
        try
        {
            LockChecks.BeforeWait();
            socket.Send(bytes);
        }
        catch (ObjectDisposedException)
        {
            throw Gone(); // the thread of an impulse may come after the end of the session
        }
    }

    /// <remarks>
    /// The framework has no flag for a single call. On other systems than Linux nothing is sent here, and a thread that may wait sends all.
    /// </remarks>
    public override unsafe int TrySend(ReadOnlySpan<byte> bytes)
    {
        if (!OperatingSystem.IsLinux()) return 0;
        fixed (byte* start = bytes)
        {
            while (true)
            {
                nint sent = SendSome(start, bytes.Length);
                if (sent >= 0) return (int)sent;
                int error = Marshal.GetLastPInvokeError();
                if (error == TryAgain) return 0;
                if (error != Interrupted) throw new SocketException((int)SocketError.ConnectionReset, $"send failed with errno {error}");
            }
        }
    }

    private unsafe nint SendSome(byte* start, int count)
    {
        try
        {
            return Send(socket.SafeHandle, start, (nuint)count, DontWait | NoSignal);
        }
        catch (ObjectDisposedException)
        {
            throw Gone();
        }
    }

    public override unsafe bool HasEndedWithin(TimeSpan time)
    {
        if (!OperatingSystem.IsLinux())
        {
            Thread.Sleep(time);
            return false;
        }
        bool isHeld = false;
        try
        {
            socket.SafeHandle.DangerousAddRef(ref isHeld);
            var wanted = new Wanted { Socket = (int)socket.SafeHandle.DangerousGetHandle(), Events = NoMoreToReceive };
            return Poll(&wanted, 1, (int)time.TotalMilliseconds) > 0;
        }
        catch (ObjectDisposedException)
        {
            return true;
        }
        finally
        {
            if (isHeld) socket.SafeHandle.DangerousRelease();
        }
    }

    private static SocketException Gone() => new((int)SocketError.ConnectionReset, "the channel has ended");

    public override void End()
    {
        try
        {
            socket.Shutdown(SocketShutdown.Both);
        }
        catch (Exception e) when (e is SocketException or ObjectDisposedException)
        {
            // It has ended already, which is all that is wanted.
        }
    }

    public override void Dispose()
    {
    }

    [LibraryImport("libc", EntryPoint = "send", SetLastError = true)]
    private static unsafe partial nint Send(SafeHandle socket, byte* bytes, nuint count, int flags);

    [LibraryImport("libc", EntryPoint = "poll", SetLastError = true)]
    private static unsafe partial int Poll(Wanted* wanted, nuint count, int milliseconds);

    /// <summary>It is the system's struct pollfd.</summary>
    [StructLayout(LayoutKind.Sequential)]
    private struct Wanted
    {
        internal int Socket;
        internal short Events;
        internal short Found;
    }
}
