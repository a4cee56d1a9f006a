using System.Net.Sockets;
using Ambrosia.Protocol.Frames;

namespace Ambrosia.EndToEnd.Tests;

/// <summary>
/// Keeps a <see cref="LeanPeer"/> at work on a thread of its own: dials again whenever the connection ends, sends its calls with a bounded
/// number of answers outstanding, acknowledges what comes, and beats. Any thread may look at it, hurry it, or stop it.
/// </summary>
internal sealed class LeanTraffic : IDisposable
{
    private const int RunCalls = 25, OutstandingMax = 200, ReceiveTimeoutMs = 300, RedialMs = 20;
    private const int SlowReceiveBytes = 16 << 10, SlowPauseMs = 50;

    private readonly LeanPeer _peer;
    private readonly Thread _thread;
    private readonly ManualResetEventSlim _stop = new();
    private volatile bool _slow;
    private ulong _received, _acknowledged;
    private int _connections;

    /// <param name="isSlow">Takes few bytes at a time and rests in between.</param>
    public LeanTraffic(LeanPeer peer, bool isSlow = false)
    {
        _peer = peer;
        _slow = isSlow;
        _thread = new Thread(Work) { IsBackground = true, Name = peer.Name };
        _thread.Start();
    }

    public string Name => _peer.Name;

    public ulong Received => Volatile.Read(ref _received);

    public ulong Acknowledged => Volatile.Read(ref _acknowledged);

    public int Connections => Volatile.Read(ref _connections);

    /// <summary>What the hub did that it must not; null: nothing.</summary>
    public string? Fault { get; private set; }

    /// <summary>From now on it takes what comes as fast as it can.</summary>
    public void Hurry() => _slow = false;

    private void Work()
    {
        while (!_stop.IsSet && Fault is null)
        {
            try
            {
                using RawLink link = _peer.Dial(_slow ? SlowReceiveBytes : 0);
                _peer.Open(link, _peer.NextHello());
                Interlocked.Increment(ref _connections);
                link.Socket.ReceiveTimeout = ReceiveTimeoutMs;
                Converse(link);
            }
            catch (Exception e) when (e is SocketException or IOException)
            {
                _stop.Wait(RedialMs); // the hub is away
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
        ulong sent = _peer.Acknowledged;
        while (!_stop.IsSet)
        {
            for (; sent < _peer.Made && sent < _peer.Received + OutstandingMax; spoke = Environment.TickCount64)
            {
                int count = (int)Math.Min(RunCalls, _peer.Made - sent);
                link.Send(FrameType.Run, _peer.Run(sent + 1, count));
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
            (FrameType type, byte[] payload) = link.Receive(_slow ? SlowReceiveBytes : int.MaxValue);
            _peer.Take(type, payload);
            Volatile.Write(ref _received, _peer.Received);
            Volatile.Write(ref _acknowledged, _peer.Acknowledged);
            if (type == FrameType.Run) link.Send(_peer.NextAck());
            if (_slow) _stop.Wait(SlowPauseMs);
        }
        catch (SocketException e) when (e.SocketErrorCode is SocketError.TimedOut or SocketError.WouldBlock)
        {
            // Nothing came: time for a heartbeat.
        }
    }

    public void Dispose()
    {
        _stop.Set();
        _thread.Join();
        _stop.Dispose();
    }
}
