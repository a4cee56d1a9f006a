using System.Net.Sockets;
using System.Text;
using System.Text.Json;
using System.Text.Json.Nodes;
using Ambrosia.Coordinator.Admin;
using Ambrosia.Log.Files;

namespace Ambrosia.Coordinator.Hosting;

/// <summary>
/// Asks a running coordinator over its admin socket (protocol P9): operators' tools use it. It blocks its caller's thread and keeps
/// nothing.
/// </summary>
public static class AdminClient
{
    private const string Prefix = "admin.";
    private const int AnswerBytesMax = 1 << 20;

    /// <summary>
    /// Lists the replicas that say in a log's directory where they can be asked, in ordinal order; a killed one says so still.
    /// </summary>
    public static IReadOnlyList<string> Replicas(IFileSystem files, string logDirectory) =>
        [.. files.List(logDirectory)
            .Where(static name => name.StartsWith(Prefix, StringComparison.Ordinal) && !name.AsSpan(Prefix.Length).Contains('.'))
            .Select(static name => name[Prefix.Length..])];

    /// <summary>Sends one command and gives the answers as they come, the last one being the end.</summary>
    /// <param name="patience">For each answer.</param>
    /// <exception cref="AdminUnreachableException">No coordinator listens there, it closed the connection, or an answer did not
    /// come in time.</exception>
    public static IEnumerable<JsonObject> Ask(IFileSystem files, string logDirectory, string replica, JsonObject request, TimeSpan patience)
    {
        using Socket socket = Connect(files, logDirectory, replica);
        socket.ReceiveTimeout = (int)Math.Clamp(patience.TotalMilliseconds, 1, int.MaxValue);
        Send(socket, request, logDirectory);
        byte[] buffer = new byte[4096];
        int fill = 0, answers = 0;
        while (true)
        {
            if (fill == buffer.Length)
                Array.Resize(ref buffer,
                    fill < AnswerBytesMax ? fill * 2 : throw Unreachable(logDirectory, $"an answer is longer than {AnswerBytesMax} bytes"));
            int received = Receive(socket, buffer.AsMemory(fill), logDirectory, patience);
            if (received == 0) break;
            fill += received;
            for (int end; (end = buffer.AsSpan(0, fill).IndexOf((byte)'\n')) >= 0; answers++)
            {
                yield return Parse(buffer.AsSpan(0, end), logDirectory);
                buffer.AsSpan(end + 1, fill - end - 1).CopyTo(buffer);
                fill -= end + 1;
            }
        }
        if (answers == 0 || fill > 0)
            throw Unreachable(logDirectory,
                "the coordinator ended the connection without an answer; it may be stopping, or have as many callers as it takes");
    }

    /// <summary>
    /// Gets the id of the process that listens, as this process would name it, or null if none listens or it lives where this one cannot
    /// see it (another PID namespace).
    /// </summary>
    public static int? ProcessOf(IFileSystem files, string logDirectory, string replica)
    {
        try
        {
            using Socket socket = Connect(files, logDirectory, replica);
            return PeerCredentials.ProcessOf(socket);
        }
        catch (AdminUnreachableException)
        {
            return null;
        }
    }

    private static Socket Connect(IFileSystem files, string logDirectory, string replica)
    {
        string place = AdminEndpoint.PlaceOf(logDirectory, replica);
        if (AdminEndpoint.ReadPlace(files, place) is not { } named)
            throw Absent(logDirectory,
                $"no coordinator of replica '{replica}' runs here (there is no {place}). Start it, or give another directory or replica");
        var socket = new Socket(AddressFamily.Unix, SocketType.Stream, ProtocolType.Unspecified);
        try
        {
            socket.Connect(new UnixDomainSocketEndPoint(named.Socket));
            return socket;
        }
        catch (Exception e) when (e is SocketException or ArgumentException)
        {
            socket.Dispose();
            throw Absent(logDirectory,
                $"the coordinator of replica '{replica}' (process {named.Process}) does not answer on {named.Socket}: {e.Message}. If it was killed, start it again");
        }
    }

    private static void Send(Socket socket, JsonObject request, string logDirectory)
    {
        byte[] line = Encoding.UTF8.GetBytes(request.ToJsonString() + "\n");
        try
        {
            for (int sent = 0; sent < line.Length;) sent += socket.Send(line.AsSpan(sent));
        }
        catch (SocketException e)
        {
            throw Unreachable(logDirectory, $"the coordinator did not take the request: {e.Message}");
        }
    }

    private static int Receive(Socket socket, Memory<byte> into, string logDirectory, TimeSpan patience)
    {
        int received = socket.Receive(into.Span, SocketFlags.None, out SocketError error);
        return error switch
        {
            SocketError.Success => received,
            SocketError.TimedOut or SocketError.WouldBlock =>
                throw Unreachable(logDirectory, $"no answer came within {patience.TotalSeconds:F0} s"),
            _ => 0,
        };
    }

    private static JsonObject Parse(ReadOnlySpan<byte> line, string logDirectory)
    {
        try
        {
            return StrictJson.Parse(line) as JsonObject ?? throw Unreachable(logDirectory, "the coordinator's answer is no object");
        }
        catch (JsonException e)
        {
            throw Unreachable(logDirectory, $"the coordinator's answer cannot be read: {e.Message}");
        }
    }

    private static AdminUnreachableException Unreachable(string logDirectory, string why) => new($"{logDirectory}: {why}.");

    private static AdminUnreachableException Absent(string logDirectory, string why) => new($"{logDirectory}: {why}.") { IsAbsent = true };
}
