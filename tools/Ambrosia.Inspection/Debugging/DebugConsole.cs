using System.Globalization;
using Ambrosia.Coordinator.Hosting;
using Ambrosia.Coordinator.Replica;

namespace Ambrosia.Inspection.Debugging;

/// <summary>
/// Takes what a person, or a file, says to a debug session, a command a line, and writes the answers. What is misunderstood is told and
/// passed over, so that nobody loses a place by a slip.
/// </summary>
/// <param name="line">Takes an answer.</param>
/// <param name="piece">Takes a piece of a state.</param>
public sealed class DebugConsole(DebugSession session, Action<string> line, Action<ReadOnlySpan<byte>> piece)
{
    private const string Help =
        "to POS · next [N] · state [PATH] · query NAME(ARGS) · calls · where · quit   (POS: LSN, LSN:INDEX, a time, ckpt:N, call:ID, key:TEXT, method:NAME[#N], start, end, crash, divergence)";

    /// <summary>The number of commands that were misunderstood.</summary>
    public int Misunderstood { get; private set; }

    /// <summary>Obeys until there is no more, or until it is told to quit.</summary>
    /// <exception cref="ViewEndedException">The view is over.</exception>
    public void Run(TextReader commands, CancellationToken stop)
    {
        while (commands.ReadLine() is { } command)
        {
            stop.ThrowIfCancellationRequested();
            string[] words = command.Split(' ', 2, StringSplitOptions.RemoveEmptyEntries | StringSplitOptions.TrimEntries);
            if (words.Length == 0 || words[0].StartsWith('#')) continue;
            if (words[0] is "quit" or "exit") return;
            foreach (string stopped in session.StopsMeanwhile()) line(stopped);
            try
            {
                Obey(words[0], words.Length > 1 ? words[1] : "", stop);
            }
            catch (MisuseException misuse)
            {
                Misunderstood++;
                line(misuse.Message);
            }
        }
    }

    private void Obey(string verb, string rest, CancellationToken stop)
    {
        switch (verb)
        {
            case "to": line(session.To(session.Find(rest), stop)); break;
            case "next": Next(rest, stop); break;
            case "query": line(session.Query(rest, stop)); break;
            case "where": line(session.Where()); break;
            case "help": line(Help); break;
            case "calls":
                foreach (string call in session.Calls()) line(call);
                break;
            case "state":
                if (rest.Length == 0) session.WriteState(piece, isIndented: true, stop);
                else session.WriteState(rest, piece, isIndented: true, stop);
                line("");
                break;
            default: throw new MisuseException($"'{verb}' is no command", "", Help);
        }
    }

    private void Next(string count, CancellationToken stop)
    {
        if (count.Length == 0) count = "1";
        if (!uint.TryParse(count, NumberStyles.None, CultureInfo.InvariantCulture, out uint left) || left == 0)
            throw new MisuseException($"'{count}' is no number of messages", "", "write next, or next 10");
        for (; left > 1; left--) session.Next(stop);
        line(session.Next(stop));
    }
}
