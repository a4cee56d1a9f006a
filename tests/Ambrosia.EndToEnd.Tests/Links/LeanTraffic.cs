using System.Net.Sockets;
using Ambrosia.Protocol;

namespace Ambrosia.EndToEnd.Tests;

/// <summary>
/// Keeps a <see cref="LeanPeer"/> at work on a thread of its own: dials again whenever the connection ends, sends its calls with a bounded
/// number of answers outstanding, acknowledges what comes, and beats. Any thread may look at it, hurry it, or stop it.
/// </summary>
internal sealed class LeanTraffic : IDisposable
{
    private const int RunCalls = 25, OutstandingMax = 200, ReceiveTimeoutMs = 300, RedialMs = 20;
    private const int SlowReceiveBytes = 16 << 10, SlowPauseMs = 50;

    private readonly LeanPeer peer;
    private readonly Thread thread;
    private readonly ManualResetEventSlim stop = new();
    private volatile bool slow;
    private ulong received, acknowledged;
    private int connections;

    /// <param name="isSlow">Takes few bytes at a time and rests in between.</param>
    public LeanTraffic(LeanPeer peer, bool isSlow = false)
    {
        this.peer = peer;
        slow = isSlow;
        thread = new Thread(Work) { IsBackground = true, Name = peer.Name };
        thread.Start();
    }

    public string Name => peer.Name;

    public ulong Received => Volatile.Read(ref received);

    public ulong Acknowledged => Volatile.Read(ref acknowledged);

    public int Connections => Volatile.Read(ref connections);

    /// <summary>What the hub did that it must not; null: nothing.</summary>
    public string? Fault { get; private set; }

    /// <summary>From now on it takes what comes as fast as it can.</summary>
    public void Hurry() => slow = false;

    private void Work()
    {
        while (!stop.IsSet && Fault is null)
        {
            try
            {
                using RawLink link = peer.Dial(slow ? SlowReceiveBytes : 0);
                peer.Open(link, peer.NextHello());
                Interlocked.Increment(ref connections);
                link.Socket.ReceiveTimeout = ReceiveTimeoutMs;
                Converse(link);
            }
            catch (Exception e) when (e is SocketException or IOException)
            {
                stop.Wait(RedialMs); // the hub is away
            }
            catch (Exception e)
            {
                Fault = e.Message;
            }
        }
    }

    private void Converse(RawLink link)
    {
        byte[] heartbeat = link.Empty(FrameType.Heartbeat);
        long spoke = Environment.TickCount64;
        ulong sent = peer.Acknowledged;
        while (!stop.IsSet)
        {
            for (; sent < peer.Made && sent < peer.Received + OutstandingMax; spoke = Environment.TickCount64)
            {
                int count = (int)Math.Min(RunCalls, peer.Made - sent);
                link.Send(FrameType.Run, peer.Run(sent + 1, count));
                sent += (ulong)count;
            }
            if (Environment.TickCount64 - spoke > ReceiveTimeoutMs)
            {
                link.Socket.Send(heartbeat);
                spoke = Environment.TickCount64;
            }
            Receive(link);
        }
    }

    private void Receive(RawLink link)
    {
        try
        {
            (FrameType type, byte[] payload) = link.Receive(slow ? SlowReceiveBytes : int.MaxValue);
            peer.Take(type, payload);
            Volatile.Write(ref received, peer.Received);
            Volatile.Write(ref acknowledged, peer.Acknowledged);
            if (type == FrameType.Run) link.Send(peer.NextAck());
            if (slow) stop.Wait(SlowPauseMs);
        }
        catch (SocketException e) when (e.SocketErrorCode is SocketError.TimedOut or SocketError.WouldBlock)
        {
            // Nothing came: time for a heartbeat.
        }
    }

    public void Dispose()
    {
        stop.Set();
        thread.Join();
        stop.Dispose();
    }
}
