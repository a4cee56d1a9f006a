using Ambrosia.AppChannel;
using Ambrosia.Failures;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;

namespace Ambrosia.Pumps;

/// <summary>
/// Drives a session over the app channel: the calling thread receives and runs all handlers, an <see cref="OutputPump"/> sends. It ends
/// when the session does or when the connection is gone. Invariant: the bytes between start and end of the buffer are received and not
/// consumed.
/// </summary>
/// <param name="watch">Null: the process lives on when the channel has ended.</param>
/// <param name="debugger">It breaks where a view has stopped; null: nothing does.</param>
internal sealed class AppChannelPump(ImmortalSession session, AppStream stream, OrphanWatch? watch = null, IDebugger? debugger = null)
{
    private const int BufferBytes = 1024 * 1024;

    private byte[] _buffer = GC.AllocateUninitializedArray<byte>(BufferBytes, pinned: true);
    private int _start;
    private int _end;

    internal SessionEnd Run()
    {
        using var output = new OutputPump(session, stream);
        watch?.Start();
        output.SendNow();
        while (session.State != SessionState.Ended)
        {
            int room = MakeRoom();
            int received = Receive(room);
            if (received == 0) break;
            _end += received;
            watch?.Turn();
            Feed();
            watch?.Turn();
            // A receive that fills its room in the middle of a frame has more behind it: the batch goes on. One that ends with a frame may
            // have nothing, and what it has led to must not wait for it (P5.6).
            if (received < room || _start == _end || session.State == SessionState.Ended)
            {
                session.InputDry();
                output.SendNow();
                if (debugger is not null && session.View is not null) BreakWhereItStopped(debugger, output);
            }
        }
        session.Stop(GoodbyeCode.CleanStop, "the app channel ended");
        watch?.End();
        return session.End!;
    }

    private void Feed()
    {
        try
        {
            _start += session.Feed(_buffer.AsMemory(_start, _end - _start));
        }
        catch (ChannelEnded)
        {
            // A handler could not send any more; the next receive finds the end too.
            session.Stop(GoodbyeCode.CleanStop, "the app channel ended");
        }
    }

    /// <summary>
    /// Lets an attached debugger break where a view has stopped, and tells the coordinator when its user goes on. What was said before has
    /// gone then, since a break stops all threads, those that send among them.
    /// </summary>
    private void BreakWhereItStopped(IDebugger debugger, OutputPump output)
    {
        if (!session.BreaksHere || !debugger.IsAttached) return;
        output.SendAllOfIt();
        debugger.Break();
        session.GoBehindBreak();
        session.InputDry();
        output.SendNow();
    }

    /// <summary>Receives into the buffer and returns the number of bytes; 0 when the channel is gone.</summary>
    private int Receive(int room)
    {
        try
        {
            return stream.Receive(_buffer.AsSpan(_end, room));
        }
        catch (Exception e) when (e is ProtocolViolation or IOException or UnauthorizedAccessException)
        {
            session.Stop(GoodbyeCode.ProtocolViolation, e.Message); // the memory that it shares with its coordinator
            return 0;
        }
    }

    /// <summary>
    /// Makes room behind what was received, so that at least the frame at the front will be whole. Returns at least one byte.
    /// </summary>
    private int MakeRoom()
    {
        int unread = _end - _start;
        if (unread == 0) _start = _end = 0;
        int needed = Math.Max(session.FrameBytes, unread + 1);
        if (_buffer.Length - _start >= needed && _buffer.Length - _end >= Math.Min(BufferBytes / 4, needed - unread))
            return _buffer.Length - _end;
        byte[] to = _buffer.Length >= needed ? _buffer : GC.AllocateUninitializedArray<byte>(needed, pinned: true);
        Buffer.BlockCopy(_buffer, _start, to, 0, unread);
        _buffer = to;
        _start = 0;
        _end = unread;
        return _buffer.Length - _end;
    }
}
