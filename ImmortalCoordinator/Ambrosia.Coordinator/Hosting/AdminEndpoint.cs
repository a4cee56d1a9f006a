using System.Net.Sockets;
using System.Text.Json;
using System.Text.Json.Nodes;
using Ambrosia.Coordinator.Admin;
using Ambrosia.Log.Files;

namespace Ambrosia.Coordinator.Hosting;

/// <summary>
/// Is the place where operators find a replica: its listening socket, and the file <c>admin.&lt;replica&gt;</c> in the log's directory
/// that names it (protocol P9.1). It owns both, and removes them at a clean end if they are still its own.
/// </summary>
internal sealed class AdminEndpoint : IDisposable
{
    private const int FileBytesMax = 4096;

    private readonly IFileSystem _files;
    private readonly string _place;
    private readonly string _socketPath;

    private AdminEndpoint(IFileSystem files, string place, string socketPath, Socket listener)
    {
        _files = files;
        _place = place;
        _socketPath = socketPath;
        Listener = listener;
    }

    public Socket Listener { get; }

    /// <summary>Opens the place; null: a living process of this replica has it, and keeps it.</summary>
    /// <param name="evenIfTaken">The caller is the primary, so that one that answers there is about to end.</param>
    /// <param name="runDirectory">Where the socket stands; null: in the log's directory.</param>
    public static AdminEndpoint? TryOpen(
        IFileSystem files, string logDirectory, string replica, bool evenIfTaken, string? runDirectory = null)
    {
        string place = PlaceOf(logDirectory, replica);
        string socketPath = SocketPath.Of(files, Path.Combine(runDirectory ?? logDirectory, $"admin.{replica}.sock"));
        if (!evenIfTaken && Answers(socketPath)) return null;
        files.Delete(socketPath);
        var listener = new Socket(AddressFamily.Unix, SocketType.Stream, ProtocolType.Unspecified);
        listener.Bind(new UnixDomainSocketEndPoint(socketPath));
        File.SetUnixFileMode(socketPath, UnixFileMode.UserRead | UnixFileMode.UserWrite);
        listener.Listen(8);
        WritePlace(files, place, socketPath);
        return new AdminEndpoint(files, place, socketPath, listener);
    }

    public static string PlaceOf(string logDirectory, string replica) => Path.Combine(logDirectory, $"admin.{replica}");

    /// <summary>Returns the socket and the process id that a place file names; null: it is not there, or not whole.</summary>
    public static (string Socket, int Process)? ReadPlace(IFileSystem files, string place)
    {
        byte[] bytes = new byte[FileBytesMax];
        try
        {
            using IFile file = files.Open(place, FileUse.Read);
            JsonNode? named = StrictJson.Parse(bytes.AsSpan(0, file.Read(bytes, 0)));
            return named is JsonObject && named["socket"]?.GetValue<string>() is { } socket
                && named["process"]?.GetValue<int>() is { } process ? (socket, process) : null;
        }
        catch (Exception e) when (e is FileNotFoundException or JsonException or InvalidOperationException or FormatException
            || (e is IOException unreadable && IFileSystem.IsUnreadable(unreadable)))
        {
            return null;
        }
    }

    private static void WritePlace(IFileSystem files, string place, string socketPath)
    {
        var named = new JsonObject { ["socket"] = socketPath, ["process"] = Environment.ProcessId };
        WholeFile.Write(files, place, place + ".new", named.ToJsonString() + "\n");
    }

    private static bool Answers(string socketPath)
    {
        using var socket = new Socket(AddressFamily.Unix, SocketType.Stream, ProtocolType.Unspecified);
        try
        {
            socket.Connect(new UnixDomainSocketEndPoint(socketPath));
            return true;
        }
        catch (SocketException)
        {
            return false;
        }
    }

    public void Dispose()
    {
        Listener.Dispose();
        if (ReadPlace(_files, _place) is not { } named || named.Process != Environment.ProcessId) return;
        _files.Delete(_place);
        _files.Delete(_socketPath);
    }
}
