// Drives a session over the app channel: the calling thread receives and runs all handlers, an OutputPump sends. It ends when the session
// does or the connection is gone. Invariant: bytes between start and end of the buffer are received and not consumed.
using Ambrosia.AppChannel;
using Ambrosia.Protocol;

namespace Ambrosia;

internal sealed class AppChannelPump(ImmortalSession session, AppStream stream)
{
    private const int BufferBytes = 1024 * 1024;

    private byte[] buffer = GC.AllocateUninitializedArray<byte>(BufferBytes, pinned: true);
    private int start;
    private int end;

    internal SessionEnd Run()
    {
        using var output = new OutputPump(session, stream);
        output.SendNow();
        while (session.State != SessionState.Ended)
        {
            int room = MakeRoom();
            int received = Receive(room);
            if (received == 0) break;
            end += received;
            Feed();
            // A receive that fills its room has more behind it: the batch goes on.
            if (received < room || session.State == SessionState.Ended)
            {
                session.InputDry();
                output.SendNow();
            }
        }
        session.Stop(GoodbyeCode.CleanStop, "the app channel ended");
        return session.End!;
    }

    private void Feed()
    {
        try
        {
            start += session.Feed(buffer.AsMemory(start, end - start));
        }
        catch (ChannelEnded)
        {
            // A handler could not send any more; the next receive finds the end too.
            session.Stop(GoodbyeCode.CleanStop, "the app channel ended");
        }
    }

    /// <summary>0: the channel is gone.</summary>
    private int Receive(int room)
    {
        try
        {
            return stream.Receive(buffer.AsSpan(end, room));
        }
        catch (Exception e) when (e is ProtocolViolation or IOException or UnauthorizedAccessException)
        {
            session.Stop(GoodbyeCode.ProtocolViolation, e.Message); // the memory that it shares with its coordinator
            return 0;
        }
    }

    /// <summary>Room behind what was received, so that at least the frame at the front will be whole. At least one byte.</summary>
    private int MakeRoom()
    {
        int unread = end - start;
        if (unread == 0) start = end = 0;
        int needed = Math.Max(session.FrameBytes, unread + 1);
        if (buffer.Length - start >= needed && buffer.Length - end >= Math.Min(BufferBytes / 4, needed - unread))
            return buffer.Length - end;
        byte[] to = buffer.Length >= needed ? buffer : GC.AllocateUninitializedArray<byte>(needed, pinned: true);
        Buffer.BlockCopy(buffer, start, to, 0, unread);
        buffer = to;
        start = 0;
        end = unread;
        return buffer.Length - end;
    }
}
