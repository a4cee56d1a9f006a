using System.Text;

namespace Ambrosia.TestKit;

/// <summary>
/// An etcd of one or more members on loopback, with its files in a temporary folder. Members are killed and started again; the one that
/// leads can be found. One thread uses it.
/// </summary>
public sealed class EtcdServers : IDisposable
{
    private const string Program = "etcd";

    private readonly string _folder = Path.Combine(Path.GetTempPath(), $"ambrosia-etcd-{Guid.NewGuid():N}");
    private readonly string[] _more;
    private readonly int[] _clientPorts, _peerPorts;
    private readonly ServerProcess?[] _members;
    private readonly HttpClient _http = new(new SocketsHttpHandler { UseProxy = false });

    /// <param name="more">Further options of each member.</param>
    public EtcdServers(int members, params string[] more)
    {
        _more = more;
        int[] ports = ServerProcess.FreePorts(2 * members);
        (_clientPorts, _peerPorts) = (ports[..members], ports[members..]);
        _members = new ServerProcess?[members];
        Scheme = more.Any(static each => each.StartsWith("--cert-file", StringComparison.Ordinal)) ? "https" : "http";
        for (int i = 0; i < members; i++) Start(i);
        if (Scheme == "http") AwaitReady();
    }

    /// <summary>Why there is no etcd here; null: there is one.</summary>
    public static string? WhyNot { get; } = ServerProcess.IsInstalled(Program) ? null : $"{Program} not installed; .ci/run installs what is missing";

    public string Scheme { get; }

    public int Members => _members.Length;

    /// <summary>The addresses of all members, as a place has them.</summary>
    public string Endpoints => string.Join(',', _clientPorts.Select(static port => $"127.0.0.1:{port}"));

    public void Start(int member)
    {
        string cluster = string.Join(',', _peerPorts.Select(static (port, i) => $"m{i}=http://127.0.0.1:{port}"));
        _members[member] ??= new ServerProcess(Program,
        [
            "--name", $"m{member}", "--data-dir", Path.Combine(_folder, $"m{member}"), "--log-level", "error", "--logger", "zap",
            "--listen-client-urls", $"{Scheme}://127.0.0.1:{_clientPorts[member]}", "--advertise-client-urls", $"{Scheme}://127.0.0.1:{_clientPorts[member]}",
            "--listen-peer-urls", $"http://127.0.0.1:{_peerPorts[member]}", "--initial-advertise-peer-urls", $"http://127.0.0.1:{_peerPorts[member]}",
            "--initial-cluster", cluster, "--heartbeat-interval", "50", "--election-timeout", "500", .. _more,
        ]);
    }

    public void Kill(int member)
    {
        _members[member]?.Dispose();
        _members[member] = null;
    }

    /// <summary>Kills all of it.</summary>
    public void KillAll()
    {
        for (int i = 0; i < Members; i++) Kill(i);
    }

    public void StartAll()
    {
        for (int i = 0; i < Members; i++) Start(i);
        AwaitReady();
    }

    /// <summary>Waits until it answers reads that all members agree on.</summary>
    public void AwaitReady()
    {
        if (Deadline.IsMet(() => Enumerable.Range(0, Members).Any(i => _members[i] is not null && Serves(i)),
            Deadline.Generous)) return;
        throw new TimeoutException($"etcd does not answer:\n{string.Join('\n', _members.Select(static each => each?.LastWords))}");
    }

    /// <summary>The member that leads now.</summary>
    public int FindLeader()
    {
        int found = -1;
        Deadline.Await(() =>
        {
            for (int i = 0; i < Members && found < 0; i++)
                if (_members[i] is not null && Post(i, "/v3/maintenance/status", "{}") is { } status
                    && Member(status, "\"member_id\"") is { } own
                    && own == Member(status, "\"leader\"")) found = i;
            return found >= 0;
        }, "a leader of etcd");
        return found;
    }

    /// <summary>Sends a request to the JSON gateway of a member; null: it did not answer as it should.</summary>
    /// <param name="token">The token of a user; null: nobody asks.</param>
    public string? Post(int member, string path, string json, string? token = null) =>
        Ask(member, path, json, token) is { Status: < 300 } answer ? answer.Text : null;

    /// <summary>Logs in; returns the token.</summary>
    public string LogIn(int member, string user, string password) =>
        Member(Post(member, "/v3/auth/authenticate", $$"""{"name":"{{user}}","password":"{{password}}"}""") ?? "", "\"token\"")
        ?? throw new InvalidOperationException($"etcd gives {user} no token");

    /// <summary>Whether a member answers a read for which it needs a leader, be it that nobody without a name may read.</summary>
    private bool Serves(int member) => Ask(member, "/v3/kv/range", """{"key":"AA=="}""") is { Status: < 500 };

    private (int Status, string Text)? Ask(int member, string path, string json, string? token = null)
    {
        try
        {
            using var content = new StringContent(json, Encoding.UTF8, "application/json");
            using var request =
                new HttpRequestMessage(HttpMethod.Post, new Uri($"{Scheme}://127.0.0.1:{_clientPorts[member]}{path}")) { Content = content };
            if (token is not null) request.Headers.TryAddWithoutValidation("Authorization", token);
            using var patience = new CancellationTokenSource(TimeSpan.FromSeconds(5));
            using HttpResponseMessage answer =
                _http.SendAsync(request, patience.Token).GetAwaiter().GetResult();
            return ((int)answer.StatusCode, answer.Content.ReadAsStringAsync().GetAwaiter().GetResult());
        }
        catch (Exception e) when (e is HttpRequestException or OperationCanceledException)
        {
            return null;
        }
    }

    private static string? Member(string json, string name)
    {
        int at = json.IndexOf(name + ":\"", StringComparison.Ordinal);
        return at < 0 ? null : json[(at + name.Length + 2)..].Split('"')[0];
    }

    public void Dispose()
    {
        KillAll();
        _http.Dispose();
        if (Directory.Exists(_folder)) Directory.Delete(_folder, recursive: true);
    }
}
