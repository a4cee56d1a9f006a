using System.Globalization;

namespace Ambrosia.EndToEnd.App;

/// <summary>Waits for timers and tasks in several lanes at once, on time.</summary>
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

    private readonly ulong _lanes, _roundsMin;
    private readonly ILedgerProxy _ledger;
    private readonly HashSet<string> _tokens = new(StringComparer.Ordinal);
    private readonly RecurringTimer _ticker;
    private ulong _made, _hash, _answers, _wrong, _ticks, _failures, _lanesLeft;
    private DateTimeOffset _lastTick;
    private bool _mayStop;

    public Steward()
    {
        _lanes = _lanesLeft = Settings.Number("LANES", 6);
        _roundsMin = Settings.Number("CALLS", 60) / _lanes + 1;
        _ledger = GetProxy<ILedger>(Settings.Peer);
        _ticker = Every(TimeSpan.FromMilliseconds(15), Tick);
    }

    protected override void OnFirstStart()
    {
        thisProxy.AwaitEndFork();
        for (ulong lane = 1; lane <= _lanes; lane++) thisProxy.WorkFork(lane);
    }

    public async Call AwaitEnd()
    {
        await NondetMethod(Appears, Settings.Until ?? "");
        _mayStop = true;
    }

    public async Call Work(ulong lane)
    {
        for (ulong round = 0; round < _roundsMin || !_mayStop; round++)
        {
            TimeSpan pause = TimeSpan.FromMilliseconds(Random.Next(1, 12));
            DateTimeOffset due = Now + pause;
            await Delay(pause);
            if (Now < due) _wrong++;
            Note(await FetchToken(lane, round));
            if (round % 5 == 4 && await _ledger.NextAsync() != ++_answers) _wrong++;
        }
        if (--_lanesLeft == 0) thisProxy.FinishFork();
    }

    public async Call Finish()
    {
        _ticker.Stop();
        string found = await _ledger.SummaryAsync();
        string expected = $"{_made} {_hash:x16} {_answers}";
        bool isRight = found == expected && _wrong == 0 && _ticks > 0 && (ulong)_tokens.Count == _made;
        Console.WriteLine(
            $"verdict {(isRight ? "equal" : "different")}: expected {expected}, found {found}, wrong {_wrong}, ticks {_ticks}, failures {_failures}, tokens {_tokens.Count}");
    }

    private async Call<string> FetchToken(ulong lane, ulong round)
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
                    _failures++;
                    return e.Message;
                }
        }
    }

    private void Tick()
    {
        _ticks++;
        if (Now < _lastTick) _wrong++;
        _lastTick = Now;
    }

    /// <summary>A token that came twice is a body whose result took effect twice.</summary>
    private void Note(string token)
    {
        if (!_tokens.Add(token)) _wrong++;
        byte[] bytes = System.Text.Encoding.UTF8.GetBytes(token);
        _hash = OrderHash.Mix(_hash, ++_made, bytes);
        _ledger.PutFork(_made, bytes);
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
