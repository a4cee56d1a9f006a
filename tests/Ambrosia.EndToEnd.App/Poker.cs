using System.Globalization;

namespace Ambrosia.EndToEnd.App;

/// <summary>
/// SENDERS threads outside the handlers send one impulse after another, each awaited, and say on a line what they were told of it:
/// acknowledged, unknown (and end), or refused (and end). What took effect says so with "did".
/// </summary>
public sealed partial class Poker : Immortal<IPokerProxy>, IPoker
{
    private ulong done;

    protected override void BecomingPrimary()
    {
        for (ulong sender = Settings.Number("SENDERS", 4); sender > 0; sender--)
        {
            string name = string.Create(CultureInfo.InvariantCulture, $"{Environment.ProcessId}-{sender}");
            new Thread(() => Send(name)) { IsBackground = true, Name = "sender" }.Start();
        }
    }

    private void Send(string name)
    {
        for (ulong n = 1; ; n++)
        {
            string id = $"{name}-{n}";
            try
            {
                thisProxy.PokeAsync(id).AsTask().GetAwaiter().GetResult();
                Console.WriteLine($"acknowledged {id}");
            }
            catch (ImpulseOutcomeUnknownException)
            {
                Console.WriteLine($"unknown {id}");
                return;
            }
            catch (InvalidOperationException)
            {
                Console.WriteLine($"refused {id}");
                return;
            }
        }
    }

    public void Poke(string id) => Console.WriteLine($"did {id} {++done}");
}
