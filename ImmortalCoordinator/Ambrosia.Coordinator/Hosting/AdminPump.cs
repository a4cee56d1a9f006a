using System.Net.Sockets;
using System.Runtime.ExceptionServices;
using System.Text;
using System.Text.Json.Nodes;
using Ambrosia.Coordinator.Admin;
using Ambrosia.Coordinator.Replica;
using CRA.Links;
using Microsoft.Extensions.Logging;

namespace Ambrosia.Coordinator.Hosting;

/// <summary>
/// Serves the admin socket (protocol P9): few connections, one request each, a thread for as long as it takes. An error
/// of a request is answered as a refusal, and ends that connection alone. The socket is opened on the accepting thread,
/// beside what else a start does.
/// </summary>
/// <param name="open">Null: somebody else has the place, and nothing is served.</param>
/// <param name="fail">Ends the process.</param>
internal sealed class AdminPump(
    Func<AdminEndpoint?> open, AdminCommands commands, Action<int, string> fail, ILogger logger) : IDisposable
{
    private const int ConnectionsMax = 8;
    private static readonly TimeSpan s_patience = TimeSpan.FromSeconds(5), s_pollEvery = TimeSpan.FromMilliseconds(10);

    private readonly ManualResetEventSlim _opened = new(false);

    // Written by the accepting thread before opened is set.
    private AdminEndpoint? _endpoint;
    private Exception? _failure;
    private int _connections;
    private volatile bool _started, _stopped;

    public void Start()
    {
        _started = true;
        PumpThread.Start("admin-accept", Run, fail);
    }

    /// <summary>Returns when operators can ask, or cannot and were told so.</summary>
    /// <exception cref="MisuseException">The socket's place will not do.</exception>
    public void AwaitOpen()
    {
        _opened.Wait();
        if (_failure is not null) ExceptionDispatchInfo.Throw(_failure);
    }

    private void Run()
    {
        try
        {
            _endpoint = open();
        }
        catch (SocketException e)
        {
            logger.AdminMissing(e.Message);
        }
        catch (Exception e)
        {
            _failure = e; // the start's, which waits for it
        }
        _opened.Set();
        if (_endpoint is { } found) AcceptLoop(found.Listener);
    }

    private void AcceptLoop(Socket listener)
    {
        var trouble = new AcceptBackoff();
        while (!_stopped)
        {
            Socket socket;
            try
            {
                socket = listener.Accept();
            }
            catch (Exception e) when (e is SocketException or ObjectDisposedException)
            {
                if (_stopped) return;
                if (e is SocketException { SocketErrorCode: SocketError.Interrupted }) continue; // a signal
                Rest(trouble, e.Message);
                continue;
            }
            if (TryServe(socket, out bool hasThread))
            {
                if (trouble.Succeeded(out long failures)) logger.AdminAcceptResumed(failures);
                continue;
            }
            socket.Dispose();
            if (!hasThread) Rest(trouble, "the system gives out no thread for it");
        }
    }

    private void Rest(AcceptBackoff trouble, string why)
    {
        TimeSpan rest = trouble.Failed(out bool isFirst);
        if (isFirst) logger.AdminAcceptFailed(why);
        Thread.Sleep(rest);
    }

    private bool TryServe(Socket socket, out bool hasThread)
    {
        hasThread = true;
        if (PeerCredentials.WhatIsWrong(socket) is not null) return false;
        bool isOne = Interlocked.Increment(ref _connections) <= ConnectionsMax;
        hasThread = !isOne || Threads.TryStart("admin", () => Serve(socket), e => logger.AdminFailed(e.Message)) is not null;
        if (isOne && hasThread) return true;
        Interlocked.Decrement(ref _connections);
        return false;
    }

    private void Serve(Socket socket)
    {
        try
        {
            using Socket owned = socket;
            socket.SendTimeout = (int)s_patience.TotalMilliseconds;
            byte[]? request = Receive(socket);
            if (request is not null) AnswerOrRefuse(socket, request);
        }
        catch (Exception e) when (e is SocketException or ObjectDisposedException)
        {
            // The operator's side is gone, or does not take its answer: nobody is left to tell.
        }
        finally
        {
            Interlocked.Decrement(ref _connections);
        }
    }

    /// <summary>
    /// A command that meets what it does not handle is refused: an operator has no way to end this process but those of P9.
    /// </summary>
    private void AnswerOrRefuse(Socket socket, byte[] request)
    {
        try
        {
            Answer(socket, commands.Begin(request));
        }
        catch (Exception e) when (e is not (SocketException or ObjectDisposedException))
        {
            logger.AdminFailed(e.Message);
            Send(socket, AdminAnswer.Error(
                $"the command failed: {e.Message}. What it was to do may be done or not; 'status' shows how things stand."));
        }
    }

    /// <summary>Returns the request without its end of line; null: it did not come whole in time, or is too long and was told so.</summary>
    private static byte[]? Receive(Socket socket)
    {
        byte[] buffer = new byte[AdminCommands.RequestBytesMax + 1];
        long begun = Environment.TickCount64;
        for (int fill = 0; ;)
        {
            int leftMs = (int)(s_patience.TotalMilliseconds - (Environment.TickCount64 - begun));
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
        for (bool isLast = false; !isLast && !_stopped;)
        {
            if (reply.Next(out isLast) is { } answer) Send(socket, answer);
            // closed by the other side, or it breaks the rule of one request
            else if (socket.Poll(s_pollEvery, SelectMode.SelectRead)) return;
        }
    }

    private static void Send(Socket socket, JsonObject answer)
    {
        byte[] line = Encoding.UTF8.GetBytes(answer.ToJsonString() + "\n");
        for (int sent = 0; sent < line.Length;) sent += socket.Send(line.AsSpan(sent));
    }

    public void Dispose()
    {
        _stopped = true;
        if (!_started) return;
        _opened.Wait();
        _endpoint?.Dispose();
    }
}
