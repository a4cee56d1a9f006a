using Ambrosia.Protocol;

namespace Ambrosia.Coordinator;

/// <summary>What happened on a connection that the operator hears of.</summary>
internal enum PeerEvent { Refused, Stopped, ToldGoodbye, Lost, Violation, Closed }

/// <summary>
/// Lines about connections to peers. An event of a kind is said at once; while it comes again and again it is said ever more seldom, with
/// how often it came in between, so that a peer that is refused for good does not fill the operator's log. Owns when what was said about
/// whom; only peers that are known get an entry. Any thread.
/// </summary>
internal sealed class PeerLines(Action<string> say, TimeProvider time)
{
    private static readonly TimeSpan windowMin = TimeSpan.FromSeconds(10), windowMax = TimeSpan.FromMinutes(10);

    private readonly Lock gate = new();
    private readonly Dictionary<(InstanceId Peer, PeerEvent Event), Said> said = [];

    /// <summary>The next line is due at <see cref="Due"/>; until then events are counted.</summary>
    private sealed class Said
    {
        public DateTimeOffset Due;
        public TimeSpan Window;
        public int LeftOut;
    }

    /// <param name="known">Null: of a stranger everything is said, once a connection.</param>
    /// <param name="name">How the other side is called in the line.</param>
    public void Say(InstanceId? known, string name, PeerEvent happened, string what)
    {
        int leftOut = 0;
        if (known is { } peer && !IsDue((peer, happened), out leftOut)) return;
        say($"link {name}: {what}{(leftOut > 0 ? $" ({leftOut} times more since this was last said)" : "")}");
    }

    private bool IsDue((InstanceId, PeerEvent) key, out int leftOut)
    {
        DateTimeOffset now = time.GetUtcNow();
        lock (gate)
        {
            leftOut = 0;
            if (!said.TryGetValue(key, out Said? last)) said.Add(key, last = new Said());
            else if (now < last.Due)
            {
                last.LeftOut++;
                return false;
            }
            bool wasQuiet = now - last.Due > last.Window;
            last.Window = wasQuiet ? windowMin : TimeSpan.FromTicks(Math.Min(windowMax.Ticks, 2 * last.Window.Ticks));
            last.Due = now + last.Window;
            (leftOut, last.LeftOut) = (last.LeftOut, 0);
            return true;
        }
    }
}
