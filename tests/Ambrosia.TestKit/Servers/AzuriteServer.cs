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
