namespace Ambrosia.Binding.Tests;

/// <summary>Queries of every shape, and such as do what a query must not.</summary>
public interface IReader
{
    [MethodId(1)]
    void Add(string word);

    [MethodId(2)]
    Call<int> Wait(string peer);

    [MethodId(3), Query]
    string[] Words(int from, int count = 10);

    [MethodId(4), Query]
    ReadOnlyMemory<byte> Mirror(ReadOnlyMemory<byte> bytes);

    [MethodId(5), Query]
    string Try(string what);

    [MethodId(6), Query]
    int Touch(bool isRemembered);

    [MethodId(7), ImpulseHandler]
    void Input(string word);

    [MethodId(8), Query]
    DateTimeOffset Time();
}

public sealed partial class Reader : Immortal<IReaderProxy>, IReader
{
    private readonly List<string> _words = [];
    private readonly CallCancellation _cancellation = new();

    private int _touched;

    [NotState]
    private int _remembered;

    private IReaderProxy? _other;
    private RecurringTimer _timer;

    internal int Touched => _touched + _remembered;

    internal IReadOnlyList<string> Contents => _words;

    public void Add(string word)
    {
        _words.Add(word);
        _other ??= GetProxy<IReader>("bank2");
        if (!_timer.IsRunning) _timer = Every(TimeSpan.FromHours(1), Tick);
    }

    public async Call<int> Wait(string peer)
    {
        IReaderProxy to = GetProxy<IReader>(peer);
        return await to.WaitAsync(peer);
    }

    public string[] Words(int from, int count) => [.. _words.Skip(from).Take(count)];

    public ReadOnlyMemory<byte> Mirror(ReadOnlyMemory<byte> bytes) => bytes.ToArray().Reverse().ToArray();

    public DateTimeOffset Time() => Now;

    public int Touch(bool isRemembered) => isRemembered ? ++_remembered : ++_touched;

    public void Input(string word) => _words.Add(word);

    public string Try(string what)
    {
        switch (what)
        {
            case "fork": _other!.AddFork("x"); break;
            case "call": _other!.WaitAsync("x"); break;
            case "impulse fork": thisProxy.InputFork("x"); break;
            case "impulse call": thisProxy.InputAsync("x"); break;
            case "logged impulse": thisProxy.InputLogged("x"); break;
            case "keyed impulse": thisProxy.WithKey("k").InputFork("x"); break;
            case "proxy": GetProxy<IReader>("bank3"); break;
            case "delay": Delay(TimeSpan.FromSeconds(1)); break;
            case "every": Every(TimeSpan.FromSeconds(1), Tick); break;
            case "stop a timer": _timer.Stop(); break;
            case "task": NondetTask(static () => 1); break;
            case "task method": NondetMethod(static () => { }); break;
            case "random": return $"{Random.Next()}";
            case "guid": return $"{NewGuid()}";
            case "checkpoint": RequestCheckpoint(); break;
            case "cancel": _cancellation.Cancel(); break;
            case "helper": return Failure(Helper());

            case "throw": throw new ArgumentException("no such word");
            default: break;
        }
        return "nothing happened";
    }

    /// <summary>An async helper that a query begins and cannot wait for.</summary>
    private async Call<int> Helper() => await _other!.WaitAsync("x");

    private static string Failure(Call<int> call) => $"{call.GetAwaiter().GetResult()}";

    private void NondetMethod(Action body) => NondetTask(body);

    private void Tick() => _words.Add("tick");
}
