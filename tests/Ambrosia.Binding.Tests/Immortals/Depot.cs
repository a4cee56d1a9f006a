namespace Ambrosia.Binding.Tests;

public interface IDepot
{
    [MethodId(1)]
    void Put(string item);
}

/// <summary>An immortal in two versions; a test says what the constructor of the second one does besides.</summary>
public sealed partial class DepotV1 : Immortal<IDepotProxy>, IDepot
{
    internal readonly List<string> _items = ["first"];

    public void Put(string item) => _items.Add($"{item} {Random.Next()}");
}

public sealed partial class DepotV2 : Immortal<IDepotProxy>, IDepot
{
    internal readonly List<string> _items = [];
    internal IQuotesProxy? _quotes;
    internal string _seen = "";

    public DepotV2() { }

    internal DepotV2(DepotV1 old) : this(old, "") { }

    internal DepotV2(DepotV1 old, string effect)
    {
        _items = old._items;
        _items.Add("converted");
        Do(effect);
    }

    public void Put(string item) => _items.Add($"{item} {Random.Next()}");

    private void Do(string effect)
    {
        switch (effect)
        {
            case "time": _seen = $"{Now:O} {Random.Next()} {NewGuid()}"; break;
            case "proxy": _quotes = Quotes(); break;
            case "call": _ = Quotes().PriceAsync("tea"); break;
            case "fork": Quotes().PriceFork("tea"); break;
            case "async": _ = Wait(); break;
            case "delay": _ = Delay(TimeSpan.FromSeconds(1)); break;
            case "every": Every(TimeSpan.FromSeconds(1), Tick); break;
            case "task": _ = NondetTask(static () => 1); break;
            case "checkpoint": RequestCheckpoint(); break;
            case "swallow": Swallow(); break;
            case "throw": throw new FormatException("no such amount");
            case "clock": _seen = $"{Guid.CreateVersion7()}"; break;
        }
    }

    protected override void OnUpgraded(uint from)
    {
        _seen += $"upgraded from {from} {Random.Next()}";
        Every(TimeSpan.FromSeconds(1), Tick);
        Quotes().PriceFork("gold");
    }

    private IQuotesProxy Quotes() => GetProxy<IQuotes>("bank3");

    private void Swallow()
    {
        try
        {
            Every(TimeSpan.FromSeconds(1), Tick);
        }
        catch (InvalidOperationException)
        {
            _seen = "caught";
        }
    }

    private void Tick() => _seen = "tick";

    private async Call Wait() => await Delay(TimeSpan.FromSeconds(1));
}

/// <summary>The next version of a depot whose fields do: one was renamed and one is new. No constructor takes the old one.</summary>
[AppVersion(2), FormerlyNamed("Ambrosia.Binding.Tests.DepotV0")]
public sealed partial class DepotNamed : Immortal<IDepotProxy>, IDepot
{
    [FormerlyNamed("_items")]
    internal readonly List<string> _wares = ["never, by a conversion"];

    internal int _added = 5;
    internal string _seen = "";

    public void Put(string item) => _wares.Add($"{item} {Random.Next()}");

    protected override void OnUpgraded(uint from) => _seen = $"upgraded from {from}";
}

/// <summary>A next version whose field of the same name is of another type.</summary>
[AppVersion(2), FormerlyNamed("Ambrosia.Binding.Tests.DepotV0")]
public sealed partial class DepotRetyped : Immortal<IDepotProxy>, IDepot
{
    internal int _items;

    public void Put(string item) => _items++;
}
