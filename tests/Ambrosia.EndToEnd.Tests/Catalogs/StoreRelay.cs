using System.Net;
using System.Net.Sockets;
using System.Text;

namespace Ambrosia.EndToEnd.Tests;

/// <summary>
/// Stands before a store and does as a bad network or a bad store would: it hands bytes on, at once or each answer after ten seconds,
/// answers nothing, answers rubbish, or closes. It counts what came while it did so. Its threads end when it is disposed of.
/// </summary>
internal sealed class StoreRelay : IDisposable
{
    private const string Rubbish = "{\"header\"";

    private static readonly TimeSpan s_slow = TimeSpan.FromSeconds(10);

    private readonly TcpListener _listener = new(IPAddress.Loopback, 0);
    private readonly string _target;
    private readonly List<Socket> _open = [];
    private volatile Manner _manner;

    /// <summary>Set when the manner changes, so that nothing slow goes on behind that.</summary>
    private volatile ManualResetEventSlim _turned = new(false);
    private int _came;

    public StoreRelay(string target)
    {
        _target = target;
        _listener.Start();
        new Thread(Accept) { IsBackground = true, Name = "store relay" }.Start();
    }

    public enum Manner { Passing, Slow, Silent, Rubbish, Gone }

    /// <summary>What it answers to everything where it answers rubbish.</summary>
    public string Answering { get; init; } = Rubbish;

    public string Address => $"127.0.0.1:{((IPEndPoint)_listener.LocalEndpoint).Port}";

    /// <summary>How many requests have come since the manner changed; while it passes bytes, how many connections.</summary>
    public int Came => Volatile.Read(ref _came);

    /// <summary>Goes on in another manner; connections of the one before are closed.</summary>
    public void Turn(Manner manner)
    {
        (_manner, ManualResetEventSlim before, _turned) = (manner, _turned, new ManualResetEventSlim(false));
        before.Set();
        Volatile.Write(ref _came, 0);
        lock (_open)
        {
            foreach (Socket each in _open) each.Dispose();
            _open.Clear();
        }
    }

    private void Accept()
    {
        try
        {
            while (true)
            {
                Socket caller = _listener.AcceptSocket();
                Keep(caller);
                Interlocked.Increment(ref _came);
                Manner manner = _manner;
                new Thread(() => Serve(caller, manner)) { IsBackground = true, Name = "store relay" }.Start();
            }
        }
        catch (Exception e) when (e is SocketException or ObjectDisposedException or InvalidOperationException)
        {
            // it is disposed of
        }
    }

    private void Serve(Socket caller, Manner manner)
    {
        try
        {
            if (manner == Manner.Gone) caller.Dispose();
            else if (manner is Manner.Passing or Manner.Slow) Pass(caller, manner == Manner.Slow);
            else Answer(caller, manner == Manner.Silent ? [] : Encoding.ASCII.GetBytes(
                $"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {Answering.Length}\r\n\r\n{Answering}"));
        }
        catch (Exception e) when (e is SocketException or ObjectDisposedException)
        {
            // one of the two sides is gone
        }
        caller.Dispose();
    }

    private void Pass(Socket caller, bool isSlow)
    {
        using var store = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp) { NoDelay = true };
        store.Connect(IPEndPoint.Parse(_target));
        Keep(store);
        caller.NoDelay = true;
        var back = new Thread(() => Copy(store, caller, isSlow)) { IsBackground = true, Name = "store relay" };
        back.Start();
        Copy(caller, store, false);
        store.Dispose();
        back.Join();
    }

    private void Copy(Socket from, Socket to, bool isSlow)
    {
        byte[] bytes = new byte[64 << 10];
        try
        {
            for (int count; (count = from.Receive(bytes)) > 0; to.Send(bytes.AsSpan(0, count)))
                if (isSlow) _turned.Wait(s_slow);
        }
        catch (Exception e) when (e is SocketException or ObjectDisposedException)
        {
            // one of the two sides is gone
        }
        to.Dispose();
    }

    private void Answer(Socket caller, byte[] answer)
    {
        byte[] bytes = new byte[64 << 10];
        while (caller.Receive(bytes) > 0)
        {
            Interlocked.Increment(ref _came);
            if (answer.Length > 0) caller.Send(answer);
        }
    }

    private void Keep(Socket socket)
    {
        lock (_open) _open.Add(socket);
    }

    public void Dispose()
    {
        Turn(Manner.Gone);
        _listener.Dispose();
    }
}
