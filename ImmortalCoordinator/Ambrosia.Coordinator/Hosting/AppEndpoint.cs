using System.Globalization;
using System.Net;
using System.Net.Sockets;
using Ambrosia.Coordinator.Replica;
using Ambrosia.Log.Files;

namespace Ambrosia.Coordinator.Hosting;

/// <summary>
/// Is the place where the app finds its coordinator: a unix socket in a private directory, or a loopback port. It owns the token that the
/// app must show. Each start makes a new token, so that an app of an earlier coordinator is a stranger.
/// </summary>
internal sealed class AppEndpoint : IDisposable
{
    private const int TokenBytes = 32;

    private readonly string? _socketPath;
    private readonly CoordinatorOptions _options;

    private AppEndpoint(Socket listener, string address, string? socketPath, string tokenPath, (byte[] App, byte[] Old) tokens,
        CoordinatorOptions options)
    {
        Listener = listener;
        Address = address;
        _socketPath = socketPath;
        TokenPath = tokenPath;
        (Token, OldToken) = (tokens.App, tokens.Old);
        HasRings = socketPath is not null && options.AppRings;
        _options = options;
    }

    public Socket Listener { get; }

    /// <summary>An app whose hello is accepted is offered rings.</summary>
    public bool HasRings { get; }

    /// <summary>The value of AMBROSIA_APP, which is "unix:PATH", "ring:PATH" or "tcp:PORT".</summary>
    public string Address { get; }

    /// <summary>The value of AMBROSIA_TOKEN.</summary>
    public string TokenPath { get; }

    public ReadOnlyMemory<byte> Token { get; }

    /// <summary>The value of AMBROSIA_TASKS: the table of the bodies that the app runs. It outlives processes.</summary>
    public string BodiesPath => Path.GetFullPath(Path.Combine(_options.RunDirectory, $"app.{_options.Replica}.tasks"));

    /// <summary>The app finds these in its environment (P5.0).</summary>
    public IReadOnlyDictionary<string, string> Environment
    {
        get
        {
            Dictionary<string, string> variables = VariablesWith(TokenPath);
            if (_options.AppVersion is { } version) variables["AMBROSIA_APP_VERSION"] = version.ToString(CultureInfo.InvariantCulture);
            return variables;
        }
    }

    /// <summary>The token of the old app of an upgrade by two builds; empty: there is none.</summary>
    public ReadOnlyMemory<byte> OldToken { get; }

    /// <summary>The environment of that app.</summary>
    public IReadOnlyDictionary<string, string> OldEnvironment => VariablesWith(OldTokenPathOf(TokenPath));

    private Dictionary<string, string> VariablesWith(string token) => new()
    {
        ["AMBROSIA_APP"] = Address, ["AMBROSIA_TOKEN"] = token,
        ["AMBROSIA_TASKS"] = BodiesPath, ["AMBROSIA_INSTANCE"] = _options.Instance, ["AMBROSIA_CATALOG"] = _options.Catalog.Text,
    };

    /// <summary>Makes a token for an app that is to take the running one's place, and its environment. One thread at a time.</summary>
    public (ReadOnlyMemory<byte> Token, IReadOnlyDictionary<string, string> Environment) NewApp(IFileSystem files)
    {
        string path = Path.ChangeExtension(TokenPath, $"{++_nextApps + 1}.token");
        return (NewToken(files, path), VariablesWith(path));
    }

    /// <summary>So many apps were to take the place of the running one.</summary>
    private int _nextApps;

    /// <summary>Refuses what <see cref="Open"/> would refuse, and makes nothing.</summary>
    /// <exception cref="MisuseException">The port is taken, or the socket's place will not do.</exception>
    public static void Check(CoordinatorOptions options)
    {
        if (options.AppPort is { } port) BindPort(port).Dispose();
        else if (options.AppSocket is { } path) SocketPath.Check(path);
    }

    /// <exception cref="MisuseException">As <see cref="Check"/>.</exception>
    public static AppEndpoint Open(IFileSystem files, CoordinatorOptions options)
    {
        string tokenPath = Path.Combine(options.RunDirectory, $"app.{options.Replica}.token");
        var tokens = (App: NewToken(files, tokenPath),
            Old: options.Upgrade is { HasTwoApps: true } ? NewToken(files, OldTokenPathOf(tokenPath)) : []);
        if (options.AppPort is { } port)
        {
            Socket bound = BindPort(port);
            bound.Listen(16);
            return new AppEndpoint(bound, $"tcp:{((IPEndPoint)bound.LocalEndPoint!).Port}", null, tokenPath, tokens, options);
        }
        string path = options.AppSocket is { } asked ? SocketPath.Made(files, asked)
            : SocketPath.Of(files, Path.Combine(options.RunDirectory, $"app.{options.Replica}.sock"));
        files.Delete(path);
        var listener = new Socket(AddressFamily.Unix, SocketType.Stream, ProtocolType.Unspecified);
        listener.Bind(new UnixDomainSocketEndPoint(path));
        System.IO.File.SetUnixFileMode(path, UnixFileMode.UserRead | UnixFileMode.UserWrite);
        listener.Listen(16);
        return new AppEndpoint(listener, $"{(options.AppRings ? "ring" : "unix")}:{path}", path, tokenPath, tokens, options);
    }

    private static string OldTokenPathOf(string tokenPath) => Path.ChangeExtension(tokenPath, "old.token");

    private static byte[] NewToken(IFileSystem files, string path)
    {
        byte[] token = new byte[TokenBytes];
        SystemRandom.Fill(token);
        files.Delete(path);
        using IFile file = files.Create(path);
        file.Write(token, 0);
        return token;
    }

    private static Socket BindPort(int port)
    {
        var listener = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        try
        {
            listener.Bind(new IPEndPoint(IPAddress.Loopback, port));
            return listener;
        }
        catch (SocketException e)
        {
            listener.Dispose();
            throw new MisuseException($"the app's port {port} cannot be used: {e.Message}. Give a free one with --app-port, or 0 for any.");
        }
    }

    public void Dispose()
    {
        Listener.Dispose();
        if (_socketPath is not null) System.IO.File.Delete(_socketPath);
    }
}
