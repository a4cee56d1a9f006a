using System.Net.Sockets;

namespace Ambrosia.TestKit;

/// <summary>
/// One connection through a <see cref="FaultyRelay"/>: a thread each way. A socket is closed when its own way in has ended, or by a cut.
/// Invariant: once half open, nothing, not even an end, passes from one side to the other.
/// </summary>
internal sealed class RelayedConnection(Socket caller, Socket callee, FaultyRelay relay, int seed)
{
    private int _ways = 2;
    private volatile bool _halfOpen;

    public void Start()
    {
        new Thread(() => Way(caller, callee, new Random(seed))) { IsBackground = true, Name = "relay there" }.Start();
        new Thread(() => Way(callee, caller, new Random(~seed))) { IsBackground = true, Name = "relay back" }.Start();
    }

    public void HalfOpen() => _halfOpen = true;

    public void Cut(bool withReset)
    {
        foreach (Socket socket in new[] { caller, callee })
        {
            try
            {
                if (withReset) socket.LingerState = new LingerOption(true, 0);
                socket.Shutdown(SocketShutdown.Both);
            }
            catch (Exception e) when (e is SocketException or ObjectDisposedException)
            {
                // It is gone already.
            }
            socket.Dispose();
        }
    }

    private void Way(Socket from, Socket to, Random random)
    {
        try
        {
            Pass(from, to, random);
            if (_halfOpen) from.Dispose();
            else to.Shutdown(SocketShutdown.Send);
        }
        catch (Exception e) when (e is SocketException or ObjectDisposedException)
        {
            if (_halfOpen) from.Dispose();
            else Cut(withReset: true);
        }
        if (Interlocked.Decrement(ref _ways) > 0) return;
        caller.Dispose();
        callee.Dispose();
        relay.Ended(this);
    }

    private void Pass(Socket from, Socket to, Random random)
    {
        byte[] bytes = new byte[Math.Clamp(relay.Faults.PieceBytesMax, 1024, 64 << 10)];
        var strikes = new Strikes(random, relay.Faults);
        for (int count; (count = from.Receive(bytes)) > 0;)
        {
            if (from == callee) relay.CountFromTarget(count);
            for (int at = 0, piece; at < count && !_halfOpen; at += piece)
            {
                LinkFaults faults = relay.Faults;
                piece = strikes.Until(Math.Min(count - at, faults.PieceBytesMax));
                if (faults.DelayMax > TimeSpan.Zero) Thread.Sleep(faults.DelayMax * random.NextDouble());
                if (_halfOpen) break;
                for (int sent = 0; sent < piece;) sent += to.Send(bytes.AsSpan(at + sent, piece - sent));
                relay.Count(piece);
                Strike(strikes.After(piece), faults, random);
            }
        }
    }

    private void Strike(Fault fault, LinkFaults faults, Random random)
    {
        if (fault == Fault.None || !relay.MayStrike()) return;
        switch (fault)
        {
            case Fault.Cut: Cut(withReset: random.Next(2) == 0); break;
            case Fault.Stall: Thread.Sleep(faults.StallFor); break;
            case Fault.HalfOpen: _halfOpen = true; break;
        }
    }

    private enum Fault { None, Cut, Stall, HalfOpen }

    /// <summary>After how many more bytes of this way which fault strikes; 0: never.</summary>
    private sealed class Strikes
    {
        private readonly Random _random;
        private readonly int _stallWithin;
        private int _cut, _stall, _silence;

        public Strikes(Random random, LinkFaults faults)
        {
            _random = random;
            _stallWithin = faults.StallWithinBytes;
            (_cut, _stall,
                _silence) = (Draw(random, faults.CutWithinBytes), Draw(random, _stallWithin), Draw(random, faults.HalfOpenWithinBytes));
        }

        private static int Draw(Random random, int within) => within > 0 ? 1 + random.Next(within) : 0;

        /// <summary>So many bytes pass before the next fault, at most <paramref name="bytes"/>.</summary>
        public int Until(int bytes)
        {
            foreach (int left in (ReadOnlySpan<int>)[_cut, _stall, _silence])
                if (left > 0) bytes = Math.Min(bytes, left);
            return bytes;
        }

        public Fault After(int bytes)
        {
            if (IsOver(ref _cut, bytes)) return Fault.Cut;
            if (IsOver(ref _silence, bytes)) return Fault.HalfOpen;
            if (!IsOver(ref _stall, bytes)) return Fault.None;
            _stall = Draw(_random, _stallWithin);
            return Fault.Stall;
        }

        private static bool IsOver(ref int left, int bytes) => left > 0 && (left -= bytes) <= 0;
    }
}
