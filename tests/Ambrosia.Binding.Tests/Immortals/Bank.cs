namespace Ambrosia.Binding.Tests;

[Data]
public sealed record Entry(string Account, long Amount, [property: Field(1)] Guid? Reference = null)
{
    public List<string> Notes { get; init; } = [];
}

public enum Colour : byte
{
    Red = 1,
    Green = 2,
}

/// <summary>Everything that a contract can hold, with ids that make transcripts readable.</summary>
public interface IBank
{
    [MethodId(1)]
    void Deposit(string account, long amount);

    [MethodId(2)]
    long Balance(string account);

    [MethodId(3)]
    Call<long> BalanceAt(string bank, string account);

    [MethodId(4)]
    Call<long> Total(List<string> banks, string account);

    [MethodId(5)]
    Call Move(string bank, string account, long amount);

    [MethodId(6)]
    void Break(string why);

    [MethodId(7)]
    Call<int> BreakLater(string bank);

    [MethodId(8)]
    void Raw(ReadOnlySpan<byte> bytes);

    [MethodId(9)]
    ReadOnlyMemory<byte> Reverse(ReadOnlyMemory<byte> bytes);

    [MethodId(10)]
    Entry Book(Entry entry, int times = 2, Colour colour = Colour.Green);

    [MethodId(11)]
    [ImpulseHandler]
    void UserInput(string line);

    [MethodId(12)]
    [ImpulseHandler]
    void Tick();

    [MethodId(13)]
    Call<string> Caught(string bank);

    [MethodId(14)]
    void Start(string bank);

    [MethodId(15)]
    Call<int> Depth(int levels, string bank);

    [MethodId(16)]
    (int Sum, Dictionary<string, int?> Counts, int[][] Rows) Mixed(
        (int A, string? B) pair, IReadOnlyDictionary<string, int?> counts, int[][] rows);

    [MethodId(17)]
    Call Prod(string bank);

    [MethodId(18)]
    Call<long> Foreign();
}

public sealed partial class Bank : Immortal<IBankProxy>, IBank
{
    private readonly SortedDictionary<string, long> _balances = [];
    private readonly Dictionary<string, IBankProxy> _banks = [];
    private Call<long> _kept;

    [NotState]
    private string? _lastInput;

    internal List<string> Log { get; } = [];

    internal byte[]? LastRaw { get; private set; }

    internal string? LastInput => _lastInput;

    internal bool SawPrimary { get; private set; }

    [NotState]
    internal Action<IBankProxy>? OnPrimary { get; set; }

    internal IBankProxy Self => thisProxy;

    internal IBankProxy Proxy(string bank) => GetProxy<IBank>(bank);

    internal Call<long> Kept => _kept;

    internal long KeptValue => _kept.GetAwaiter().GetResult();

    protected override void OnFirstStart() => Log.Add($"first start of {InstanceName}");

    protected override void BecomingPrimary()
    {
        SawPrimary = IsPrimary;
        OnPrimary?.Invoke(thisProxy);
    }

    public void Deposit(string account, long amount) => _balances[account] = Balance(account) + amount;

    public long Balance(string account) => _balances.GetValueOrDefault(account);

    public async Call<long> BalanceAt(string bank, string account) => await At(bank).BalanceAsync(account);

    public async Call<long> Total(List<string> names, string account)
    {
        var calls = new List<Call<long>>();
        foreach (string name in names) calls.Add(At(name).BalanceAsync(account));
        long[] all = await Call.WhenAll(calls);
        Log.Add($"total of {all.Length}");
        return all.Sum();
    }

    public async Call Move(string bank, string account, long amount)
    {
        Deposit(account, -amount);
        await At(bank).DepositAsync(account, amount);
        Log.Add($"moved {amount}");
    }

    public void Break(string why) => throw new InvalidOperationException(why, new ArgumentException("inner"));

    public async Call<int> BreakLater(string bank)
    {
        await At(bank).BalanceAsync("x");
        throw new NotSupportedException("later");
    }

    public void Raw(ReadOnlySpan<byte> bytes) => LastRaw = bytes.ToArray();

    public ReadOnlyMemory<byte> Reverse(ReadOnlyMemory<byte> bytes)
    {
        byte[] copy = bytes.ToArray();
        Array.Reverse(copy);
        return copy;
    }

    public Entry Book(Entry entry, int times, Colour colour)
    {
        Deposit(entry.Account, entry.Amount * times);
        return entry with { Notes = [.. entry.Notes, $"{times} {colour}"] };
    }

    public void UserInput(string line)
    {
        _lastInput = line;
        Log.Add($"input {line}");
    }

    public void Tick() => Log.Add("tick");

    /// <summary>No state: another machine's stack may differ.</summary>
    [NotState]
    internal string? CaughtStack { get; private set; }

    /// <summary>How a handler is refused that waits for "logged".</summary>
    [NotState]
    internal InvalidOperationException? LoggedRefusal { get; private set; }

    public async Call<string> Caught(string bank)
    {
        try
        {
            await At(bank).BreakAsync("please");
            return "no";
        }
        catch (RemoteCallException e)
        {
            CaughtStack = e.RemoteStack;
            return $"{e.TypeName}: {e.Message} ({e.InnerException?.Message})";
        }
    }

    /// <summary>Makes a call that no handler waits for, and keeps it.</summary>
    public void Start(string bank) => _kept = At(bank).BalanceAsync("kept");

    public async Call<int> Depth(int levels, string bank)
    {
        if (levels == 0) return (int)await At(bank).BalanceAsync("deep");
        return 1 + await Depth(levels - 1, bank);
    }

    public (int Sum, Dictionary<string, int?> Counts, int[][] Rows) Mixed(
        (int A, string? B) pair, IReadOnlyDictionary<string, int?> counts, int[][] rows) =>
            (pair.A + (pair.B?.Length ?? -1), counts.Reverse().ToDictionary(), [.. rows.Reverse()]);

    public async Call Prod(string bank)
    {
        LoggedRefusal = Assert.Throws<BindingMisuseException>(() => At(bank).UserInputLogged("from a handler"));
        At(bank).UserInputFork("from a handler");
        await At(bank).TickAsync();
    }

    public async Call<long> Foreign()
    {
        await Task.Yield();
        return 1;
    }

    private IBankProxy At(string bank)
    {
        if (!_banks.TryGetValue(bank, out IBankProxy? proxy)) _banks.Add(bank, proxy = GetProxy<IBank>(bank));
        return proxy;
    }
}
