// Sends a session's output. At the end of a batch the scheduler's thread sends what the socket takes at once, which saves a hand-off;
// the rest, and what piles up while handlers run, is sent by a thread of its own. Invariant: whoever takes output holds the send gate, so
// frames stay whole; a wake that comes while the gate is held is seen by the sender's thread afterwards.
using System.Net.Sockets;
using Ambrosia.Protocol;

namespace Ambrosia;

internal sealed class OutputPump : IDisposable
{
    /// <summary>Handlers wait while more output than this is unsent: the coordinator is behind, or gone.</summary>
    private const long BacklogBytesMax = 8 * 1024 * 1024;
    private const long WakeBytesMin = 64 * 1024;
    private const int SendBytesMax = 1024 * 1024;
    private static readonly TimeSpan s_heartbeatEvery = TimeSpan.FromSeconds(1);

    private readonly ImmortalSession session;
    private readonly Socket socket;
    private readonly Thread thread;
    private readonly byte[] heartbeat = new byte[FrameHeader.Bytes];
    private readonly Lock sendGate = new();

    // Guarded by stateGate, which is never held while sending.
    private readonly object stateGate = new();
    private bool wake;
    private bool stopping;
    private Exception? failure;

    internal OutputPump(ImmortalSession session, Socket socket)
    {
        this.session = session;
        this.socket = socket;
        new FrameHeader(0, FrameType.Heartbeat, 0).Write(heartbeat, seed: 0);
        session.OutputClosed = OnClosed;
        session.ImpulseAdded = SendNow;
        session.WaitForImpulseRoom = WaitForImpulseRoom;
        thread = new Thread(Run) { IsBackground = true, Name = "ambrosia output" };
        thread.Start();
    }

    /// <summary>Sends without waiting; what is left goes to the thread. Any thread.</summary>
    internal void SendNow()
    {
        bool isLeft = true;
        if (sendGate.TryEnter())
        {
            try
            {
                isLeft = !TrySendAll();
            }
            catch (SocketException e)
            {
                Fail(e);
            }
            finally
            {
                sendGate.Exit();
            }
            PulseRoom();
        }
        if (isLeft) Wake();
    }

    /// <summary>Lets the thread send what is there, for a bounded time, and ends it.</summary>
    public void Dispose()
    {
        lock (stateGate)
        {
            stopping = true;
            Monitor.PulseAll(stateGate);
        }
        if (!thread.Join(TimeSpan.FromSeconds(2))) socket.Close(0);
    }

    private void Run()
    {
        try
        {
            while (true)
            {
                bool isIdle = AwaitWake(out bool stop);
                lock (sendGate) SendAll(isIdle);
                if (stop) return;
            }
        }
        catch (Exception e) when (e is SocketException or ObjectDisposedException)
        {
            Fail(e);
        }
    }

    /// <summary>True: nothing happened for a heartbeat's time.</summary>
    private bool AwaitWake(out bool stop)
    {
        lock (stateGate)
        {
            bool isIdle = false;
            while (!wake && !stopping && !isIdle) isIdle = !Monitor.Wait(stateGate, s_heartbeatEvery);
            wake = false;
            stop = stopping;
            return isIdle;
        }
    }

    private void SendAll(bool isIdle)
    {
        while (session.TryTakeOutput(out ReadOnlyMemory<byte> bytes))
        {
            int sent = socket.Send(bytes.Span[..Math.Min(bytes.Length, SendBytesMax)]);
            session.OutputTaken(sent);
            PulseRoom();
            isIdle = false;
        }
        // Nothing is half sent here, so a heartbeat cannot fall into a frame. Before Welcome there is nothing to keep alive.
        if (isIdle && session.Welcome is not null) socket.Send(heartbeat);
    }

    private bool TrySendAll()
    {
        while (session.TryTakeOutput(out ReadOnlyMemory<byte> bytes))
        {
            int sent = NonBlockingSend.TrySend(socket, bytes.Span);
            if (sent > 0) session.OutputTaken(sent);
            if (sent < bytes.Length) return false;
        }
        return true;
    }

    /// <summary>On the scheduler's thread, in the middle of handlers.</summary>
    private void OnClosed(long backlog)
    {
        if (backlog < WakeBytesMin) return;
        Wake();
        if (backlog <= BacklogBytesMax) return;
        lock (stateGate)
        {
            while (session.OutputBacklog > BacklogBytesMax)
            {
                if (failure is not null) throw new ChannelEnded(failure.Message);
                Monitor.Wait(stateGate);
            }
        }
    }

    /// <summary>On the thread of an impulse's sender. Returns when something was sent, or nothing waits.</summary>
    private void WaitForImpulseRoom()
    {
        lock (stateGate)
        {
            if (failure is not null) throw new InvalidOperationException("Impulses are not accepted any more: the app channel has ended.", failure);
            if (stopping || session.ImpulseBacklog == 0) return; // nobody pulses behind the end, and the outbox says then that it takes no more
            wake = true;
            Monitor.PulseAll(stateGate);
            Monitor.Wait(stateGate);
        }
    }

    private void Wake()
    {
        lock (stateGate)
        {
            wake = true;
            Monitor.PulseAll(stateGate);
        }
    }

    private void PulseRoom()
    {
        lock (stateGate) Monitor.PulseAll(stateGate);
    }

    /// <summary>The reader finds the connection closed and ends the session.</summary>
    private void Fail(Exception why)
    {
        lock (stateGate)
        {
            failure ??= why;
            Monitor.PulseAll(stateGate);
        }
        try
        {
            socket.Shutdown(SocketShutdown.Both);
        }
        catch (Exception e) when (e is SocketException or ObjectDisposedException)
        {
            // It is closed already, which is all that is wanted.
        }
    }
}
