using System.Diagnostics;
using Ambrosia.Coordinator.Replica;
using Ambrosia.Coordinator.Upgrades;
using Ambrosia.Log.Fencing;
using Ambrosia.Log.Files;

namespace Ambrosia.Coordinator.Hosting;

/// <summary>
/// Takes the place of one replica of a log at the start of its process: its name, what the process before has left there, and the directory
/// of what is this machine's alone. The starting thread uses it.
/// </summary>
internal sealed class ReplicaPlace(CoordinatorOptions options, IFileSystem files, SpaceWait space)
{
    /// <summary>A replica of the same name may still be there for so long before it is believed.</summary>
    private static readonly TimeSpan s_nameMax = TimeSpan.FromSeconds(3);

    /// <summary>
    /// Takes the name, which one replica at a time can have. Whoever looks who is there holds a name for a moment, and a killed process
    /// for a little longer.
    /// </summary>
    /// <exception cref="MisuseException">Another process has it.</exception>
    public ReplicaLock TakeName(CancellationToken stop)
    {
        long begin = Stopwatch.GetTimestamp();
        while (true)
        {
            if (space.Until(() => ReplicaLock.TryTake(files, options.LogDirectory, options.Replica)) is { } taken) return taken;
            if (Stopwatch.GetElapsedTime(begin) > s_nameMax)
                throw new MisuseException(
                    $"a replica '{options.Replica}' of '{options.Instance}' runs on {options.LogDirectory} already. Give this one another name with --replica.");
            stop.WaitHandle.WaitOne(10);
            stop.ThrowIfCancellationRequested();
        }
    }

    /// <summary>Another replica of the log runs, or it cannot be seen that none does.</summary>
    public static bool HasOthers(CoordinatorInputs inputs)
    {
        try
        {
            return ReplicaLock.ListRunning(inputs.Files, inputs.Options.LogDirectory, except: inputs.Options.Replica).Count > 0;
        }
        catch (IOException)
        {
            return true;
        }
    }

    /// <summary>
    /// Removes what the process that had this name before has left behind where it was killed, and makes what is missing.
    /// </summary>
    /// <param name="catalog">The files of the catalog; null: it is in a store.</param>
    public void Prepare(CatalogFiles? catalog)
    {
        if (AdminEndpoint.ReadPlace(files, AdminEndpoint.PlaceOf(options.LogDirectory, options.Replica)) is { } last)
            RuntimeFiles.RemoveIfEnded(last.Process, Path.GetTempPath());
        try
        {
            catalog?.RemoveLeftovers();
            files.Delete(StateSpool.PathOf(options));
        }
        catch (IOException)
        {
            // What cannot be written is told of where it must be.
        }
        if (options.Run is not { } run) return;
        files.CreateDirectory(run); // each level by itself, so that each is private
        files.CreateDirectory(options.RunDirectory);
    }
}
