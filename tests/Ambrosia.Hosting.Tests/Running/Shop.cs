using Ambrosia.Calls;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;

namespace Ambrosia.Hosting.Tests.Running;

/// <summary>What the tests ask of an immortal in a host.</summary>
public interface IShop
{
    /// <returns>How many were sold.</returns>
    long Sell(string article);

    /// <summary>Asks services in the body of a task.</summary>
    Call<string> Deliver(string article);

    /// <summary>Asks for services where they are refused; returns how each was refused.</summary>
    Call<string[]> Misuse();

    /// <summary>Does not come back before the test says so.</summary>
    void Hang();

    /// <summary>Waits for a task that the test ends.</summary>
    Call<long> Wait();

    /// <summary>Waits for a timer.</summary>
    Call<long> Nap(long seconds);

    /// <summary>Takes as many bytes as the log is to grow by; only their number stays.</summary>
    void Store(ReadOnlyMemory<byte> goods);

    [Query]
    long Sold();

    [Query]
    long Stored();
}

/// <summary>Counts what the scopes of bodies live through.</summary>
public sealed class Van : IDisposable
{
    internal static int Made, Disposed;

    public Van() => Interlocked.Increment(ref Made);

    public string Drive(string article) => $"{article} delivered";

    public void Dispose() => Interlocked.Increment(ref Disposed);
}

// It does on purpose what no handler may: what is refused at run time is tried, and the test holds it back when it likes.
#pragma warning disable AMB104, AMB107, AMB113, AMB127

/// <summary>The immortal of the tests in this process.</summary>
public sealed partial class Shop : Immortal<IShopProxy>, IShop
{
    internal static readonly ManualResetEventSlim MayEnd = new(true);
    internal static volatile TaskCompletionSource Waiting = new();

    private long _sold, _stored;

    public long Sell(string article)
    {
        ShopLines.Sold(Logger.AsILogger(), article, ++_sold);
        return _sold;
    }

    public async Call<string> Deliver(string article) => await NondetTask(context =>
    {
        string driven = context.Services.GetRequiredService<Van>().Drive(article);
        string keyed = context.Services.GetRequiredKeyedService<string>("town");
        return $"{driven} in {keyed}, {ReferenceEquals(context.Services.GetRequiredService<Van>(), context.Services.GetRequiredService<Van>())}";
    });

    public async Call<string[]> Misuse()
    {
        string inHandler = Refusal(() => _ = OutsideServices), ofTask = "";
        IServiceProvider? leaked = null;
        await NondetTask(context => { s_leaked = context.Services; });
        leaked = s_leaked;
        s_leaked = null;
        ofTask = Refusal(() => leaked!.GetService(typeof(Van)));
        leaked = null;
        return [inHandler, ofTask];
    }

    private static IServiceProvider? s_leaked;

    public void Hang() => MayEnd.Wait(TimeSpan.FromSeconds(60));

    public async Call<long> Wait()
    {
        await NondetTask(static () => Waiting.Task);
        return 7;
    }

    public async Call<long> Nap(long seconds)
    {
        await Delay(TimeSpan.FromSeconds(seconds));
        return seconds;
    }

    public void Store(ReadOnlyMemory<byte> goods) => _stored += goods.Length;

    public long Sold() => _sold;

    public long Stored() => _stored;

    private static string Refusal(Action ask)
    {
        try
        {
            ask();
            return "nothing";
        }
        catch (InvalidOperationException refused)
        {
            return refused.Message;
        }
    }
}

/// <summary>What the shop logs, in the form that the rest of a program has.</summary>
internal static partial class ShopLines
{
    [LoggerMessage(EventId = 4711, EventName = "shop.sold", Level = LogLevel.Information, Message = "{Article} sold, {Count} by now")]
    internal static partial void Sold(ILogger logger, string article, long count);
}
