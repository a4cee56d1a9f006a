namespace Ambrosia.EndToEnd.App;

/// <summary>
/// A ring, of which the first drives with LANES: each lane is one handler that is never finished before the end. It passes a number round
/// the ring, HOPS calls deep, each waiting for the next, and now and then asks the next one 100 things at once. What the answers and the
/// others' histories must be is computed beside it. RING is all of them, in order.
/// </summary>
public sealed partial class Ring : Immortal<IRingProxy>, IRing
{
    private const int FanWidth = 100, RoundsBetweenFans = 8;

    private readonly int lanes, hops;
    private readonly IRingProxy next;
    private readonly List<IRingProxy> others = [];
    private readonly SortedDictionary<int, ulong> histories = [];
    private readonly SortedDictionary<string, SortedDictionary<int, ulong>> expected = new(StringComparer.Ordinal);
    private int running;
    private ulong wrong, rounds, passes;
    private bool mayStop;

    public Ring()
    {
        int place = Array.IndexOf(Settings.Ring, InstanceName);
        lanes = place == 0 ? (int)Settings.Number("LANES", 0) : 0;
        hops = (int)Settings.Number("HOPS", 5);
        foreach (string name in Settings.Ring.Skip(place + 1).Concat(Settings.Ring.Take(place))) others.Add(GetProxy<IRing>(name));
        next = others[0];
    }

    protected override void OnFirstStart()
    {
        for (int lane = 0; lane < lanes; lane++) thisProxy.LaneFork(lane);
    }

    protected override void BecomingPrimary()
    {
        if (lanes > 0 && Settings.Until is { } file) new Thread(() => StopAt(file)) { IsBackground = true, Name = "outside" }.Start();
    }

    private void StopAt(string file)
    {
        try
        {
            while (!File.Exists(file)) Thread.Sleep(10);
            thisProxy.StopFork();
        }
        catch (InvalidOperationException)
        {
            // The coordinator is gone, and the process ends with it.
        }
    }

    public void Stop() => mayStop = true;

    public async Call Lane(int lane)
    {
        running++;
        for (ulong number = 1; !mayStop; number++)
        {
            rounds++;
            if (await next.PassAsync(lane, number, hops - 1) != Expect(lane, number)) wrong++;
            if (number % RoundsBetweenFans != 0) continue;
            // both are under way while the calls below are, and are in the checkpoints between
            Call pause = Delay(TimeSpan.FromMilliseconds(1));
            Call<ulong> task = NondetMethod(Square, number);
            var calls = new List<Call<ulong>>();
            for (ulong i = 0; i < FanWidth; i++) calls.Add(next.StampAsync(lane, number + i));
            ulong[] stamps = await Call.WhenAll(calls);
            for (int i = 0; i < stamps.Length; i++) if (stamps[i] != Note(expected[next.InstanceName], lane, number + (ulong)i)) wrong++;
            if (await task != Square(number)) wrong++;
            await pause;
        }
        if (--running == 0) await Judge();
    }

    public async Call<ulong> Pass(int lane, ulong number, int hops)
    {
        SortedDictionary<int, ulong> mine = histories;
        ulong before = Note(mine, lane, number * 16 + (ulong)hops);
        passes++;
        if (hops == 0) return before;
        ulong after = await next.PassAsync(lane, number, hops - 1);
        if (!ReferenceEquals(mine, histories)) wrong++; // a local is still the same object as the state's
        return OrderHash.Mix(after, before, []);
    }

    private static ulong Square(ulong number) => number * number;

    public ulong Stamp(int lane, ulong number) => Note(histories, lane, number);

    public string Summary() => $"{passes} {string.Join(',', histories.Select(static each => $"{each.Value:x16}"))} {wrong}";

    private static ulong Note(SortedDictionary<int, ulong> histories, int lane, ulong what) =>
        histories[lane] = OrderHash.Mix(histories.GetValueOrDefault(lane), what, []);

    /// <summary>What the ring will answer, by the histories that its members must have.</summary>
    private ulong Expect(int lane, ulong number)
    {
        string[] members = [.. others.Select(static each => each.InstanceName), InstanceName];
        var before = new ulong[hops];
        for (int i = 0; i < hops; i++)
        {
            if (!expected.TryGetValue(members[i % members.Length], out SortedDictionary<int, ulong>? history))
                expected.Add(members[i % members.Length], history = []);
            before[i] = Note(history, lane, number * 16 + (ulong)(hops - 1 - i));
        }
        ulong result = before[^1];
        for (int i = hops - 2; i >= 0; i--) result = OrderHash.Mix(result, before[i], []);
        return result;
    }

    private async Call Judge()
    {
        ulong perMember = rounds * (ulong)hops / (ulong)(others.Count + 1);
        foreach (IRingProxy other in others)
        {
            string found = await other.SummaryAsync();
            if (found != $"{perMember} {string.Join(',', expected[other.InstanceName].Select(static each => $"{each.Value:x16}"))} 0")
                wrong++;
        }
        if (!histories.SequenceEqual(expected[InstanceName])) wrong++;
        Console.WriteLine($"verdict {(wrong == 0 ? "equal" : "different")}: expected {rounds} rounds of {lanes} lanes, wrong {wrong}");
    }
}
