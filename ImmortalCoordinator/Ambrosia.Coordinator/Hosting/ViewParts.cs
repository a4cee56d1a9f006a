using Ambrosia.Coordinator.Replica;
using Ambrosia.Coordinator.Views;
using Ambrosia.Log.Files;
using Ambrosia.Log.Instances;
using Ambrosia.Log.Reading;
using CRA.Catalog;
using Microsoft.Extensions.Logging;

namespace Ambrosia.Coordinator.Hosting;

/// <summary>
/// Owns the parts of a secondary on a log that is only read: without lock, claim, links, timers and checkpoints. What they must write
/// lies in a directory of their own, which goes with them. One thread opens and disposes of them.
/// </summary>
internal sealed class ViewParts : IDisposable
{
    private readonly string _directory;

    /// <param name="log">The log, and what else is known of its app.</param>
    /// <param name="fail">Hears that the view is over, with the exit code.</param>
    /// <param name="view">What the parts execute the log for.</param>
    /// <exception cref="MisuseException">The directory is no log.</exception>
    /// <exception cref="Log.Format.LogDamage">The log's chain is damaged.</exception>
    public ViewParts(ViewedLog log, IFileSystem files, ILogger logger, Action<int, string> fail, View view)
    {
        string path = Path.TrimEndingDirectorySeparator(Path.GetFullPath(log.Directory));
        InstanceIdentity identity = InstanceDirectory.TryRead(files, path) ?? throw new MisuseException(
            $"'{log.Directory}' is no log: it holds no file 'instance', which every log has from its creation on. Give the directory that the coordinator's --log names.");
        _directory = Directory.CreateTempSubdirectory("ambrosia-view-").FullName;
        var own = new ViewFiles(files, path, _directory);
        Location = new LogLocation(own, path, identity);
        Reader = new LogFollower(own, path, identity);
        while (Reader.Step()) { }
        var settings = new CoordinatorOptions
        {
            LogDirectory = path, Instance = identity.Name, Replica = "view", Catalog = CatalogPlace.OfDirectory(_directory),
            AppSocket = log.AppSocket, Upgrade = log.Upgrade,
        };
        Endpoint = AppEndpoint.Open(files, settings with { LogDirectory = _directory });
        var inputs = new CoordinatorInputs
        {
            Options = settings, Identity = identity, Files = own, AppToken = Endpoint.Token, Time = TimeProvider.System,
            Random = Random.Shared.NextDouble, Pumps = new ViewPumps(fail), Logger = logger,
        };
        Coordinator = new Coordinator(inputs, Reader, view);
        Coordinator.Checkpoints.Pipeline.Forbid();
        Pump = new AppPump(
            Coordinator, Endpoint, static stop => stop.WaitHandle.WaitOne(1), fail, logger, new PumpProgress(TimeProvider.System));
    }

    public LogLocation Location { get; }

    /// <summary>It follows the log as far as that is stated as durable.</summary>
    public LogFollower Reader { get; }

    public AppEndpoint Endpoint { get; }

    public Coordinator Coordinator { get; }

    public AppPump Pump { get; }

    /// <summary>An app finds its view by these variables.</summary>
    public Dictionary<string, string> Environment => new(Endpoint.Environment) { ["AMBROSIA_VIEW"] = "1" };

    public void Dispose()
    {
        Pump.Dispose();
        Endpoint.Dispose();
        Coordinator.Dispose();
        try
        {
            Directory.Delete(_directory, recursive: true);
        }
        catch (IOException)
        {
            // An app that was not started here may be about to write there.
        }
    }
}

/// <summary>Says which log is viewed, and how.</summary>
/// <param name="Directory">The directory of the log.</param>
/// <param name="AppSocket">The path of the unix socket for the app; null: one in the view's own directory.</param>
/// <param name="Upgrade">The upgrade for which the app is to convert a state; null: it is to execute the log.</param>
internal sealed record ViewedLog(string Directory, string? AppSocket = null, UpgradeOptions? Upgrade = null);
