using System.Text.Json.Nodes;
using Ambrosia.Coordinator.Hosting;
using Ambrosia.Hosting.Configuration;
using Ambrosia.Hosting.Replicas;
using Ambrosia.Log.Files;
using Ambrosia.Pumps;

namespace Ambrosia.Hosting.Running;

/// <summary>
/// Runs one immortal as the app of the coordinator that the environment names. When the coordinator says goodbye the host stops; any other
/// end ends the process at once. It owns the app's thread, which runs all handlers.
/// </summary>
internal sealed class AppForm : IRunningForm
{
    /// <summary>The host stops without its coordinator: the channel ends with the process.</summary>
    private static readonly TimeSpan s_patience = TimeSpan.FromSeconds(2);

    private const string TokenPrefix = "app.", TokenSuffix = ".token";

    private readonly HostEnd _end;
    private readonly AppHost _app;
    private readonly Thread _thread;
    private readonly bool _isView;
    private volatile bool _stops;

    /// <param name="files">The files of the system, where the coordinator says how to ask it.</param>
    public AppForm(CheckedOptions options, AddedImmortal immortal, ImmortalSurroundings surroundings, HostEnd end, IFileSystem files)
    {
        _end = end;
        Action<string> complain = surroundings.ComplainerOf(immortal.Name);
        _app = AmbrosiaApp.NewHost(
            immortal.Definition, complain, immortal.Former, surroundings.ServicesOf(immortal.Name), surroundings.WriterOf(immortal.Name));
        _thread = new Thread(Run) { Name = $"app {immortal.Name}", IsBackground = true };
        _isView = options.Form.IsView;
        Replicas = AskerOf(options.Form.Token, files) is { } ask
            ? [new HostedReplica(immortal.Name, ask, TimeProvider.System) { Waiting = () => _app.Session?.Waiting }] : [];
    }

    public IReadOnlyList<HostedReplica> Replicas { get; }

    public void Start() => _thread.Start();

    public void Stop()
    {
        _stops = true;
        _thread.Join(s_patience);
    }

    private void Run()
    {
        int code = _app.Run();
        if (_isView) _end.EndNow(code); // nothing else of the program has begun
        else _end.Ended(code, _stops);
    }

    /// <summary>
    /// Returns what asks the coordinator over its admin socket, which lies beside the token; null: the token's name says nothing.
    /// </summary>
    private static Func<JsonObject?>? AskerOf(string? token, IFileSystem files)
    {
        string name = Path.GetFileName(token ?? "");
        if (!name.StartsWith(TokenPrefix, StringComparison.Ordinal) || !name.EndsWith(TokenSuffix, StringComparison.Ordinal)) return null;
        string replica = name[TokenPrefix.Length..^TokenSuffix.Length], directory = Path.GetDirectoryName(Path.GetFullPath(token!))!;
        return () =>
        {
            try
            {
                JsonObject answer = AdminClient.Ask(files, directory, replica, new JsonObject { ["command"] = "status" }, s_patience).First();
                return answer.ContainsKey("role") ? answer : null;
            }
            catch (Exception e) when (e is AdminUnreachableException or IOException)
            {
                return null;
            }
        };
    }
}
