using System.Globalization;

namespace Ambrosia.EndToEnd.App;

/// <summary>
/// SENDERS threads outside the handlers send one impulse after another, each awaited, and say on a line what they were told of it:
/// acknowledged, unknown (and end), or refused (and end). What took effect says so with "did". With a directory SPOOL the words are written
/// there, see <see cref="PokerSpool"/>, half of the impulses go to PEER, and half of each have keys.
/// </summary>
public sealed partial class Poker : Immortal<IPokerProxy>, IPoker
{
    private readonly Dictionary<string, int> _times = [];
    private readonly IPokerProxy _peer;
    private ulong _done;

    public Poker() => _peer = GetProxy<IPoker>(Settings.Peer);

    protected override void BecomingPrimary()
    {
        for (int sender = (int)Settings.Number("SENDERS", 4); sender > 0; sender--)
        {
            int number = sender;
            ThreadStart send = Settings.Spool is { } spool ? () => SendSpooled(spool, number) : () => Send(number);
            new Thread(send) { IsBackground = true, Name = "sender" }.Start();
        }
    }

    private void Send(int sender)
    {
        for (ulong n = 1; ; n++)
        {
            string id = string.Create(CultureInfo.InvariantCulture, $"{Environment.ProcessId}-{sender}-{n}");
            string outcome = Outcome(() => thisProxy.PokeLogged(id));
            Console.WriteLine($"{outcome} {id}");
            if (outcome != "acknowledged") return;
        }
    }

    private void SendSpooled(string directory, int sender)
    {
        (IPokerProxy target, bool isKeyed) = (sender % 2 == 0 ? thisProxy : _peer, sender % 4 < 2);
        using var spool = new PokerSpool(directory, $"{InstanceName}-{sender}", isKeyed);
        while (Settings.Until is { } end && !File.Exists(end))
        {
            string id = spool.Next();
            string outcome = Outcome(() => isKeyed ? target.WithKey(id).PokeLogged(id) : target.PokeLogged(id));
            // a planted bug
            if (isKeyed && Settings.DoesRepeat && outcome == "acknowledged")
                outcome = Outcome(() => target.WithKey(id + " again").PokeLogged(id));
            spool.WriteLine(outcome);
            if (outcome != "acknowledged") return;
        }
        Console.WriteLine($"ended {sender}");
    }

    private static string Outcome(Func<Call> impulse)
    {
        try
        {
            impulse().AsTask().GetAwaiter().GetResult();
            return "acknowledged";
        }
        catch (ImpulseOutcomeUnknownException)
        {
            return "unknown";
        }
        catch (InvalidOperationException)
        {
            return "refused";
        }
    }

    public void Poke(string id)
    {
        _times[id] = _times.GetValueOrDefault(id) + 1;
        _done++;
        if (Settings.Spool is null) Console.WriteLine($"did {id} {_done}");
    }

    public int[] TimesOf(string[] ids) => [.. ids.Select(id => _times.GetValueOrDefault(id))];
}
