using System.Net;
using System.Net.Sockets;
using System.Security.Cryptography;
using Ambrosia.Log;

namespace Ambrosia.Coordinator.Pumps;

/// <summary>Where the app finds its coordinator: a unix socket in a private directory, or a loopback port; and the token that it must show.</summary>
internal sealed class AppEndpoint : IDisposable
{
    private readonly string? socketPath;

    private AppEndpoint(Socket listener, string address, string? socketPath, string tokenPath, byte[] token)
    {
        Listener = listener;
        Address = address;
        this.socketPath = socketPath;
        TokenPath = tokenPath;
        Token = token;
    }

    public Socket Listener { get; }

    /// <summary>"unix:PATH" or "tcp:PORT", the value of AMBROSIA_APP.</summary>
    public string Address { get; }

    /// <summary>The value of AMBROSIA_TOKEN.</summary>
    public string TokenPath { get; }

    public ReadOnlyMemory<byte> Token { get; }

    public IReadOnlyDictionary<string, string> Environment =>
        new Dictionary<string, string> { ["AMBROSIA_APP"] = Address, ["AMBROSIA_TOKEN"] = TokenPath };

    public static AppEndpoint Open(IFileSystem files, CoordinatorOptions options)
    {
        string tokenPath = Path.Combine(options.LogDirectory, $"app.{options.Replica}.token");
        byte[] token = RandomNumberGenerator.GetBytes(32);
        files.Delete(tokenPath);
        using (IFile file = files.Create(tokenPath)) file.Write(token, 0);
        if (options.AppPort is { } port) return OpenPort(port, tokenPath, token);

        string path = options.AppSocket ?? SocketPath.Of(files, Path.Combine(options.LogDirectory, $"app.{options.Replica}.sock"));
        files.Delete(path);
        var listener = new Socket(AddressFamily.Unix, SocketType.Stream, ProtocolType.Unspecified);
        listener.Bind(new UnixDomainSocketEndPoint(path));
        listener.Listen(16);
        return new AppEndpoint(listener, $"unix:{path}", path, tokenPath, token);
    }

    private static AppEndpoint OpenPort(int port, string tokenPath, byte[] token)
    {
        var listener = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        listener.Bind(new IPEndPoint(IPAddress.Loopback, port));
        listener.Listen(16);
        return new AppEndpoint(listener, $"tcp:{((IPEndPoint)listener.LocalEndPoint!).Port}", null, tokenPath, token);
    }

    public void Dispose()
    {
        Listener.Dispose();
        if (socketPath is not null) System.IO.File.Delete(socketPath);
    }
}
