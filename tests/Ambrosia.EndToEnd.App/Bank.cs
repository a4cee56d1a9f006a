namespace Ambrosia.EndToEnd.App;

/// <summary>Counts how often each id took effect; what a caller outside is told can be held against it.</summary>
public sealed partial class Bank : Immortal<IBankProxy>, IBank
{
    private readonly Dictionary<string, int> _times = [];
    private long _place, _turns;

    public long Deposit(string id) => Put(id) + Settings.AnswersMore;

    public async Call<long> DepositLater(string id)
    {
        await thisProxy.TurnAsync();
        return Put(id);
    }

    public long Turn() => ++_turns;

    public long Refuse(string why) => throw new ArgumentException(why, new FormatException("inside"));

    public void Note(string id) => Put(id);

    public void Trip(string id)
    {
        Put(id);
        if (_times[id] == 1) throw new InvalidOperationException($"{id} trips");
    }

    public void Spin(string until)
    {
        Put(until);
        for (uint turn = 0; turn % 1_000_000 != 0 || !File.Exists(until); turn++)
        {
        }
    }

    public int[] TimesOf(string[] ids) => [.. ids.Select(id => _times.GetValueOrDefault(id))];

    public ReadOnlyMemory<byte> Echo(ReadOnlyMemory<byte> bytes) => bytes;

    public int[] Seen(string[] ids) => TimesOf(ids);

    public long Total() => _place;

    public long Meddle() => ++_place;

    public long End()
    {
        Environment.FailFast("a query that ends the app");
        return 0;
    }

    private long Put(string id)
    {
        _times[id] = _times.GetValueOrDefault(id) + 1;
        return ++_place;
    }
}
