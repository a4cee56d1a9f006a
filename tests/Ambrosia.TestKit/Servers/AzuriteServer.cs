using System.Globalization;
using System.Net;
using System.Security.Cryptography;
using System.Text;

namespace Ambrosia.TestKit;

/// <summary>
/// Azurite's tables on loopback, Azure's storage as an emulator, with its files in a temporary folder. It is killed and started again. One
/// thread uses it.
/// </summary>
public sealed class AzuriteServer : IDisposable
{
    /// <summary>Every Azurite has this account and key; they are secrets of nobody.</summary>
    public const string Account = "devstoreaccount1";

    private const string Program = "azurite-table";
    private const string Key = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";

    private readonly string _folder = Path.Combine(Path.GetTempPath(), $"ambrosia-azurite-{Guid.NewGuid():N}");
    private readonly int _port = ServerProcess.FreePorts(1)[0];
    private ServerProcess? _process;

    public AzuriteServer()
    {
        Directory.CreateDirectory(_folder);
        Start();
    }

    /// <summary>Why there is no Azurite here; null: there is one.</summary>
    public static string? WhyNot { get; } =
        ServerProcess.IsInstalled(Program) ? null : $"{Program} not installed; .ci/run installs what is missing";

    public string Connection =>
        $"DefaultEndpointsProtocol=http;AccountName={Account};AccountKey={Key};TableEndpoint=http://127.0.0.1:{_port}/{Account};";

    public void Start()
    {
        _process ??= new ServerProcess(Program,
            ["--tableHost", "127.0.0.1", "--tablePort", $"{_port}", "--location", _folder, "--silent", "--skipApiVersionCheck", "--disableTelemetry"]);
        if (!Deadline.IsMet(Listens, Deadline.Generous)) throw new TimeoutException($"Azurite does not listen:\n{_process.LastWords}");
    }

    /// <summary>Makes a table, unless it is there, and puts an entity into it, as somebody does who knows nothing of catalogs.</summary>
    public void PutEntity(string table, string partition, string row)
    {
        using var http = new HttpClient(new SocketsHttpHandler { UseProxy = false });
        Post(http, "Tables", $$"""{"TableName":"{{table}}"}""", HttpStatusCode.Created, HttpStatusCode.Conflict);
        Post(http, table, $$"""{"PartitionKey":"{{partition}}","RowKey":"{{row}}"}""", HttpStatusCode.Created);
    }

    /// <summary>A request that is signed as Azure's tables want it (SharedKeyLite).</summary>
    private void Post(HttpClient http, string resource, string json, params HttpStatusCode[] expected)
    {
        string date = DateTime.UtcNow.ToString("R", CultureInfo.InvariantCulture), path = $"/{Account}/{resource}";
        byte[] signature = HMACSHA256.HashData(Convert.FromBase64String(Key), Encoding.UTF8.GetBytes($"{date}\n/{Account}{path}"));
        using var request = new HttpRequestMessage(HttpMethod.Post, new Uri($"http://127.0.0.1:{_port}{path}"));
        request.Content = new StringContent(json, Encoding.UTF8, "application/json");
        request.Headers.TryAddWithoutValidation("x-ms-date", date);
        request.Headers.TryAddWithoutValidation("x-ms-version", "2019-02-02");
        request.Headers.TryAddWithoutValidation("Accept", "application/json;odata=nometadata");
        request.Headers.TryAddWithoutValidation("Authorization", $"SharedKeyLite {Account}:{Convert.ToBase64String(signature)}");
        using HttpResponseMessage answer = http.SendAsync(request).GetAwaiter().GetResult();
        if (!expected.Contains(answer.StatusCode))
            throw new IOException($"Azurite says {answer.StatusCode}: {answer.Content.ReadAsStringAsync().GetAwaiter().GetResult()}");
    }

    /// <summary>An entity is in its files. What was put in the last seconds is not: an Azurite that is killed has lost that.</summary>
    public bool HasSaved(string row) => Directory.EnumerateFiles(_folder)
        .Any(file => File.ReadAllText(file).Contains($"\"RowKey\":\"{row}\"", StringComparison.Ordinal));

    public void Kill()
    {
        _process?.Dispose();
        _process = null;
    }

    private bool Listens()
    {
        try
        {
            using var client = new System.Net.Sockets.TcpClient("127.0.0.1", _port);
            return true;
        }
        catch (System.Net.Sockets.SocketException)
        {
            return false;
        }
    }

    public void Dispose()
    {
        Kill();
        if (Directory.Exists(_folder)) Directory.Delete(_folder, recursive: true);
    }
}
