using System.Net.Sockets;
using System.Runtime.ExceptionServices;
using System.Text;
using System.Text.Json.Nodes;

namespace Ambrosia.Coordinator.Pumps;

/// <summary>
/// Serves the admin socket (protocol P9): few connections, one request each, a thread for as long as it takes. Whatever goes wrong with
/// one of them ends that one. The socket is opened on the accepting thread, beside what else a start does.
/// </summary>
/// <param name="open">Null: somebody else has the place, and nothing is served.</param>
internal sealed class AdminPump(Func<AdminEndpoint?> open, AdminCommands commands, Action<string> say) : IDisposable
{
    private const int ConnectionsMax = 8;
    private static readonly TimeSpan patience = TimeSpan.FromSeconds(5), pollEvery = TimeSpan.FromMilliseconds(10);

    private readonly ManualResetEventSlim opened = new(false);

    // Written by the accepting thread before opened is set.
    private AdminEndpoint? endpoint;
    private Exception? failure;
    private int connections;
    private volatile bool started, stopped;

    public void Start()
    {
        started = true;
        new Thread(Run) { Name = "admin-accept", IsBackground = true }.Start();
    }

    /// <summary>Returns when operators can ask, or cannot and were told so.</summary>
    /// <exception cref="MisuseException">The socket's place will not do.</exception>
    public void AwaitOpen()
    {
        opened.Wait();
        if (failure is not null) ExceptionDispatchInfo.Throw(failure);
    }

    private void Run()
    {
        try
        {
            endpoint = open();
        }
        catch (SocketException e)
        {
            say($"no admin socket: {e.Message}. The replica runs without; tools cannot ask it.");
        }
        catch (Exception e)
        {
            failure = e; // the start's, which waits for it
        }
        opened.Set();
        if (endpoint is { } found) AcceptLoop(found.Listener);
    }

    private void AcceptLoop(Socket listener)
    {
        while (!stopped)
        {
            Socket socket;
            try
            {
                socket = listener.Accept();
            }
            catch (Exception e) when (e is SocketException or ObjectDisposedException)
            {
                if (stopped) return;
                if (e is not SocketException { SocketErrorCode: SocketError.Interrupted })
                    say($"admin socket: accepting failed: {e.Message}");
                Thread.Sleep(pollEvery);
                continue;
            }
            if (!TryServe(socket)) socket.Dispose();
        }
    }

    private bool TryServe(Socket socket)
    {
        if (PeerCredentials.WhatIsWrong(socket) is not null) return false;
        if (Interlocked.Increment(ref connections) > ConnectionsMax)
        {
            Interlocked.Decrement(ref connections);
            return false;
        }
        new Thread(() => Serve(socket)) { Name = "admin", IsBackground = true }.Start();
        return true;
    }

    private void Serve(Socket socket)
    {
        try
        {
            using Socket owned = socket;
            socket.SendTimeout = (int)patience.TotalMilliseconds;
            byte[]? request = Receive(socket);
            if (request is not null) Answer(socket, commands.Begin(request));
        }
        catch (Exception e) when (e is SocketException or ObjectDisposedException)
        {
            // The operator's side is gone, or does not take its answer: nobody is left to tell.
        }
        catch (IOException e)
        {
            say($"admin socket: {e.Message}");
        }
        finally
        {
            Interlocked.Decrement(ref connections);
        }
    }

    /// <summary>The request without its end of line; null: it did not come whole in time, or is too long and was told so.</summary>
    private static byte[]? Receive(Socket socket)
    {
        byte[] buffer = new byte[AdminCommands.RequestBytesMax + 1];
        long begun = Environment.TickCount64;
        for (int fill = 0; ;)
        {
            int leftMs = (int)(patience.TotalMilliseconds - (Environment.TickCount64 - begun));
            if (leftMs <= 0) return null;
            socket.ReceiveTimeout = leftMs;
            int received = socket.Receive(buffer.AsSpan(fill));
            int end = buffer.AsSpan(fill, received).IndexOf((byte)'\n');
            if (end >= 0) return buffer[..(fill + end)];
            fill += received;
            if (received == 0) return null;
            if (fill < buffer.Length) continue;
            Send(socket, AdminAnswer.Error($"the request is longer than {AdminCommands.RequestBytesMax} bytes"));
            return null;
        }
    }

    private void Answer(Socket socket, IAdminReply reply)
    {
        for (bool isLast = false; !isLast && !stopped;)
        {
            if (reply.Next(out isLast) is { } answer) Send(socket, answer);
            // closed by the other side, or it breaks the rule of one request
            else if (socket.Poll(pollEvery, SelectMode.SelectRead)) return;
        }
    }

    private static void Send(Socket socket, JsonObject answer)
    {
        byte[] line = Encoding.UTF8.GetBytes(answer.ToJsonString() + "\n");
        for (int sent = 0; sent < line.Length;) sent += socket.Send(line.AsSpan(sent));
    }

    public void Dispose()
    {
        stopped = true;
        if (!started) return;
        opened.Wait();
        endpoint?.Dispose();
    }
}
