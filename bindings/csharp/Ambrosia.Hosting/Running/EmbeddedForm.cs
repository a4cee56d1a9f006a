using Ambrosia.Coordinator.Replica;
using Ambrosia.Hosting.Configuration;
using Ambrosia.Hosting.Replicas;
using Ambrosia.Log.Files;
using Ambrosia.Protocol.Texts;

namespace Ambrosia.Hosting.Running;

/// <summary>
/// Runs immortals together with their coordinators, in this process. The first that has to end ends them all. It owns them, and what tells
/// them to end.
/// </summary>
/// <param name="files">The files of the system.</param>
internal sealed class EmbeddedForm(CheckedOptions options, ImmortalSurroundings surroundings, HostEnd end, IFileSystem files) : IRunningForm
{
    private readonly CancellationTokenSource _stop = new();
    private HostedImmortal[] _immortals = [];

    public IReadOnlyList<HostedReplica> Replicas { get; private set; } = [];

    public void Start()
    {
        _immortals = [.. options.Immortals.Select((immortal, i) => New(immortal, options.Each[i]))];
        Replicas = [.. _immortals.Select(static immortal => new HostedReplica(
            immortal.Options.Instance, immortal.Coordinator.Status, TimeProvider.System)
        {
            Progress = immortal.Coordinator.Progress, HangsAfter = 2 * immortal.Options.HangLimit, Waiting = () => immortal.Waiting,
        })];
        foreach (HostedImmortal immortal in _immortals) immortal.Start(_stop);
    }

    /// <summary>Ends the coordinators as SIGTERM ends them: callers are answered, a standby goes on or a checkpoint is taken.</summary>
    public void Stop()
    {
        _stop.Cancel();
        foreach (HostedImmortal immortal in _immortals) immortal.AwaitEnd();
    }

    private HostedImmortal New(AddedImmortal immortal, CoordinatorOptions own) => new(
        own, immortal.Definition,
        new HostSurroundings(
            surroundings.EventsOf(immortal.Name), ComplainerOf(immortal.Name), surroundings.ServicesOf(immortal.Name),
            surroundings.WriterOf(immortal.Name), end.Ended, (code, why) => end.Exiting(immortal.Name, code, why)),
        files);

    /// <summary>Why a coordinator cannot begin is for the standard error, too, where whoever has started the program looks.</summary>
    private Action<string> ComplainerOf(string name)
    {
        Action<string> log = surroundings.ComplainerOf(name);
        return said =>
        {
            string text = SettingWords.Of(said);
            log(text);
            Console.Error.WriteLine(HarmlessText.Lines(options.Immortals.Count > 1 ? $"{name}: {text}" : text));
        };
    }
}
