using System.Globalization;

namespace Ambrosia.EndToEnd.App;

/// <summary>Does errands in several lanes at once, on time.</summary>
public interface ISteward
{
    Call Work(ulong lane);

    Call AwaitEnd();

    Call Finish();
}

/// <summary>
/// LANES handlers at once, each in a loop: a delay, a task in one of its forms, a call. What the tasks gave goes to PEER in the order of
/// their results, which at the end is compared; a periodic timer ticks beside. Every body says on a line which process ran it. A task that
/// waits for the file UNTIL is outstanding all the time. CALLS: at least so many results.
/// </summary>
public sealed partial class Steward : Immortal<IStewardProxy>, ISteward
{
    private static int s_bodies;

    private readonly ulong lanes, roundsMin;
    private readonly ILedgerProxy ledger;
    private readonly HashSet<string> tokens = new(StringComparer.Ordinal);
    private readonly RecurringTimer ticker;
    private ulong made, hash, answers, wrong, ticks, failures, lanesLeft;
    private DateTimeOffset lastTick;
    private bool mayStop;

    public Steward()
    {
        lanes = lanesLeft = Settings.Number("LANES", 6);
        roundsMin = Settings.Number("CALLS", 60) / lanes + 1;
        ledger = GetProxy<ILedger>(Settings.Peer);
        ticker = Every(TimeSpan.FromMilliseconds(15), Tick);
    }

    protected override void OnFirstStart()
    {
        thisProxy.AwaitEndFork();
        for (ulong lane = 1; lane <= lanes; lane++) thisProxy.WorkFork(lane);
    }

    public async Call AwaitEnd()
    {
        await NondetMethod(Appears, Settings.Until ?? "");
        mayStop = true;
    }

    public async Call Work(ulong lane)
    {
        for (ulong round = 0; round < roundsMin || !mayStop; round++)
        {
            TimeSpan pause = TimeSpan.FromMilliseconds(Random.Next(1, 12));
            DateTimeOffset due = Now + pause;
            await Delay(pause);
            if (Now < due) wrong++;
            Note(await Errand(lane, round));
            if (round % 5 == 4 && await ledger.NextAsync() != ++answers) wrong++;
        }
        if (--lanesLeft == 0) thisProxy.FinishFork();
    }

    public async Call Finish()
    {
        ticker.Stop();
        string found = await ledger.SummaryAsync();
        string expected = $"{made} {hash:x16} {answers}";
        bool isRight = found == expected && wrong == 0 && ticks > 0 && (ulong)tokens.Count == made;
        Console.WriteLine(
            $"verdict {(isRight ? "equal" : "different")}: expected {expected}, found {found}, wrong {wrong}, ticks {ticks}, failures {failures}, tokens {tokens.Count}");
    }

    private async Call<string> Errand(ulong lane, ulong round)
    {
        switch ((lane + round) % 4)
        {
            case 0: return await NondetTask(() => Token($"lambda {lane}"));
            case 1: return await NondetMethod(TokenLater, lane);
            case 2: return await NondetTask(async context =>
            {
                await Task.Delay(2);
                return $"{Token("keyed")} {context.IdempotencyKey}";
            });
            default:
                try
                {
                    return await NondetTask(string () => throw new InvalidOperationException(Token("failed")));
                }
                catch (RemoteCallException e) when (e.TypeName == "System.InvalidOperationException")
                {
                    failures++;
                    return e.Message;
                }
        }
    }

    private void Tick()
    {
        ticks++;
        if (Now < lastTick) wrong++;
        lastTick = Now;
    }

    /// <summary>A token that came twice is a body whose result took effect twice.</summary>
    private void Note(string token)
    {
        if (!tokens.Add(token)) wrong++;
        byte[] bytes = System.Text.Encoding.UTF8.GetBytes(token);
        hash = OrderHash.Mix(hash, ++made, bytes);
        ledger.PutFork(made, bytes);
    }

    /// <summary>Differs each time that a body runs, in whatever process.</summary>
    private static string Token(string what)
    {
        int body = Interlocked.Increment(ref s_bodies);
        if (Settings.DoesRepeat && body % 10 == 0) (what, body) = ("repeated", 0); // a planted bug
        string token = string.Create(CultureInfo.InvariantCulture, $"{what} {Environment.ProcessId}-{body}");
        Console.WriteLine($"body {token}");
        return token;
    }

    private static async Task<string> TokenLater(ulong lane)
    {
        await Task.Delay(1);
        return Token($"method {lane}");
    }

    private static async Task Appears(string file, NondetContext context)
    {
        while (file.Length > 0 && !File.Exists(file)) await Task.Delay(5, context.Stopped);
    }
}
