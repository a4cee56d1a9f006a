namespace Ambrosia.EndToEnd.App;

/// <summary>
/// A ring, of which the first drives with LANES: each lane is one handler that is never finished before the end. It passes a number round
/// the ring, HOPS calls deep, each waiting for the next, and now and then asks the next one 100 things at once. What the answers and the
/// others' histories must be is computed beside it. RING is all of them, in order.
/// </summary>
public sealed partial class Ring : Immortal<IRingProxy>, IRing
{
    private const int FanWidth = 100, RoundsBetweenFans = 8;

    private readonly int _lanes, _hops;
    private readonly IRingProxy _next;
    private readonly List<IRingProxy> _others = [];
    private readonly SortedDictionary<int, ulong> _histories = [];
    private readonly SortedDictionary<string, SortedDictionary<int, ulong>> _expected = new(StringComparer.Ordinal);
    private int _running;
    private ulong _wrong, _rounds, _passes;
    private bool _mayStop;

    public Ring()
    {
        int place = Array.IndexOf(Settings.Ring, InstanceName);
        _lanes = place == 0 ? (int)Settings.Number("LANES", 0) : 0;
        _hops = (int)Settings.Number("HOPS", 5);
        foreach (string name in Settings.Ring.Skip(place + 1).Concat(Settings.Ring.Take(place))) _others.Add(GetProxy<IRing>(name));
        _next = _others[0];
    }

    protected override void OnFirstStart()
    {
        for (int lane = 0; lane < _lanes; lane++) thisProxy.LaneFork(lane);
    }

    protected override void BecomingPrimary()
    {
        if (_lanes > 0 && Settings.Until is { } file) new Thread(() => StopAt(file)) { IsBackground = true, Name = "outside" }.Start();
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

    public void Stop() => _mayStop = true;

    public async Call Lane(int lane)
    {
        _running++;
        for (ulong number = 1; !_mayStop; number++)
        {
            _rounds++;
            if (await _next.PassAsync(lane, number, _hops - 1) != Expect(lane, number)) _wrong++;
            if (number % RoundsBetweenFans != 0) continue;
            // both are under way while the calls below are, and are in the checkpoints between
            Call pause = Delay(TimeSpan.FromMilliseconds(1));
            Call<ulong> task = NondetMethod(Square, number);
            var calls = new List<Call<ulong>>();
            for (ulong i = 0; i < FanWidth; i++) calls.Add(_next.StampAsync(lane, number + i));
            ulong[] stamps = await Call.WhenAll(calls);
            for (int i = 0; i < stamps.Length; i++) if (stamps[i] != Note(_expected[_next.InstanceName], lane, number + (ulong)i)) _wrong++;
            if (await task != Square(number)) _wrong++;
            await pause;
        }
        if (--_running == 0) await Judge();
    }

    public async Call<ulong> Pass(int lane, ulong number, int hops)
    {
        SortedDictionary<int, ulong> mine = _histories;
        ulong before = Note(mine, lane, number * 16 + (ulong)hops);
        _passes++;
        if (hops == 0) return before;
        ulong after = await _next.PassAsync(lane, number, hops - 1);
        if (!ReferenceEquals(mine, _histories)) _wrong++; // a local is still the same object as the state's
        return OrderHash.Mix(after, before, []);
    }

    private static ulong Square(ulong number) => number * number;

    public ulong Stamp(int lane, ulong number) => Note(_histories, lane, number);

    public string Summary() => $"{_passes} {string.Join(',', _histories.Select(static each => $"{each.Value:x16}"))} {_wrong}";

    private static ulong Note(SortedDictionary<int, ulong> histories, int lane, ulong what) =>
        histories[lane] = OrderHash.Mix(histories.GetValueOrDefault(lane), what, []);

    /// <summary>What the ring will answer, by the histories that its members must have.</summary>
    private ulong Expect(int lane, ulong number)
    {
        string[] members = [.. _others.Select(static each => each.InstanceName), InstanceName];
        var before = new ulong[_hops];
        for (int i = 0; i < _hops; i++)
        {
            if (!_expected.TryGetValue(members[i % members.Length], out SortedDictionary<int, ulong>? history))
                _expected.Add(members[i % members.Length], history = []);
            before[i] = Note(history, lane, number * 16 + (ulong)(_hops - 1 - i));
        }
        ulong result = before[^1];
        for (int i = _hops - 2; i >= 0; i--) result = OrderHash.Mix(result, before[i], []);
        return result;
    }

    private async Call Judge()
    {
        ulong perMember = _rounds * (ulong)_hops / (ulong)(_others.Count + 1);
        foreach (IRingProxy other in _others)
        {
            string found = await other.SummaryAsync();
            if (found != $"{perMember} {string.Join(',', _expected[other.InstanceName].Select(static each => $"{each.Value:x16}"))} 0")
                _wrong++;
        }
        if (!_histories.SequenceEqual(_expected[InstanceName])) _wrong++;
        Console.WriteLine($"verdict {(_wrong == 0 ? "equal" : "different")}: expected {_rounds} rounds of {_lanes} lanes, wrong {_wrong}");
    }
}
