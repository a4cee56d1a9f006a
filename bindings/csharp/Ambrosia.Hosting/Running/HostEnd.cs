using Ambrosia.Coordinator.Replica;
using Ambrosia.Hosting.Configuration;
using Ambrosia.Hosting.Logs;
using Ambrosia.Protocol.Texts;
using Microsoft.Extensions.Hosting;

namespace Ambrosia.Hosting.Running;

/// <summary>
/// Ends the host when an immortal has ended. One that was retired, or whose coordinator has asked it to end, stops the host in order. Any
/// other end is the end of the process at once and with its code: what is unknown then must not be acted upon. Any thread.
/// </summary>
internal sealed class HostEnd(IHostApplicationLifetime lifetime, EventForwarder events)
{
    /// <param name="code">Exit code of the coordinator or of the app.</param>
    /// <param name="wasAsked">The host stops already.</param>
    internal void Ended(int code, bool wasAsked)
    {
        if (code == ExitCodes.Ok)
        {
            if (!wasAsked) lifetime.StopApplication();
            return;
        }
        EndNow(code);
    }

    /// <summary>
    /// A coordinator ends the process with the next statement. Loggers write on threads of their own, which end with it, so the reason goes
    /// to the standard error, too.
    /// </summary>
    internal void Exiting(string instance, int code, string why)
    {
        Console.Error.WriteLine(HarmlessText.Lines($"{instance}: exit {code}: {SettingWords.Of(why)}"));
        events.Flush();
    }

    internal void EndNow(int code)
    {
        events.Flush();
        Environment.Exit(code);
    }
}
