using Ambrosia.Coordinator.Hosting;
using Ambrosia.Coordinator.Replica;
using Ambrosia.Inspection.Debugging;
using Ambrosia.Log.Files;
using Ambrosia.Protocol;

namespace Ambrosia.Inspection.Incidents;

/// <summary>Finds the message that an app does not survive: it executes one after another in a view, until it dies. One thread.</summary>
/// <param name="app">Starts it.</param>
internal sealed class DeathSearch(string logDirectory, IReadOnlyList<string> app, IFileSystem files)
{
    /// <summary>Returns the message; null: this time the app got through, or died elsewhere.</summary>
    /// <param name="from">Everything before it was survived.</param>
    public MessagePlace? Find(MessagePlace from, CancellationToken stop)
    {
        using var view = new ViewHost(
            new ViewOptions { LogDirectory = logDirectory, App = app, IsQuiet = true, TellsDifferences = false }, files,
            new ToldWarnings(static _ => { }), static _ => { });
        view.Start(from.Record);
        MessagePlace at = view.To(from, stop).Place;
        try
        {
            while (true)
            {
                ViewStop next = view.Next(stop);
                if (next.IsEnd || next.Place == at) return null;
                at = next.Place;
            }
        }
        catch (ViewEndedException ended) when (ended.Code is not (ExitCodes.Damage or ExitCodes.Misuse))
        {
            return at;
        }
    }
}
