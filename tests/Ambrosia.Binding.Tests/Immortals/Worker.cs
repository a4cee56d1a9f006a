using System.Globalization;
using CRA.Links;

namespace Ambrosia.Binding.Tests;

public interface IWorker
{
    [MethodId(1)]
    Call Run(string how);

    [MethodId(2)]
    void Begin(string how);
}

public sealed class Parcel
{
    internal string? Name { get; init; }

    internal List<Parcel>? Parts { get; set; }

    internal Parcel? Twin { get; set; }
}

/// <summary>Begins tasks of every form.</summary>
public sealed partial class Worker : Immortal<IWorkerProxy>, IWorker
{
    internal readonly List<string> Seen = [];

    /// <summary>The world outside, which is no state: what bodies did and give.</summary>
    internal static readonly AsyncLocal<World?> Outside = new();

    internal Call<int> Kept;

    internal int KeptValue => Kept.GetAwaiter().GetResult();

    internal sealed class World
    {
        internal List<string> Did { get; } = [];

        internal int Next { get; set; }

        internal Func<NondetContext, Task>? Async { get; set; }
    }

    private static World ThisWorld => Outside.Value!;

    public async Call Run(string how)
    {
        try
        {
            Seen.Add($"{how}: {await Result(how)}");
        }
        catch (RemoteCallException e)
        {
            Seen.Add($"{how}: {e.TypeName} {e.Message}{(e.InnerException is null ? "" : " < " + e.InnerException.Message)}");
        }
        catch (ArgumentException e)
        {
            Seen.Add($"{how}: refused {e.Message}");
        }
    }

    public void Begin(string how)
    {
        var captive = new MemoryStream(3);
        Kept = how switch
        {
            "lambda" => NondetTask(static () => Do("kept")),
            "captive" => NondetTask(() => captive.Capacity),
            _ => NondetMethod(Measure, "kept"),
        };
    }

    private async Call<string> Result(string how)
    {
        int local = 40;
        var retry = new NondetOptions { Attempts = 3, Backoff = TimeSpan.FromSeconds(1), BackoffMax = TimeSpan.FromSeconds(1.5) };
        switch (how)
        {
            case "value": return Text(await NondetTask(() => Do("value") + local));
            case "async": return Text(await NondetTask(async () => { await Task.Yield(); return Do("async"); }));
            case "action": await NondetTask(() => { Do("action"); }); return "done";
            case "asyncAction": await NondetTask(async () => { await Task.CompletedTask; Do("asyncAction"); }); return "done";
            case "throws":
                return Text(await NondetTask(int () => throw new InvalidOperationException("body", new FormatException("inner"))));
            case "asyncThrows":
                await NondetTask(async () => { await Task.CompletedTask; throw new TimeoutException("late"); }); return "never";
            case "mute": return Text(await NondetTask(int () => throw new Mute()));
            case "key": return await NondetTask(static context => $"{context.IdempotencyKey} #{context.Attempt}");
            case "graph":
                Parcel parcel = await NondetTask(static () => MakeParcel());
                return $"{parcel.Name} {parcel.Parts!.Count} {ReferenceEquals(parcel.Parts[0], parcel.Twin)}";
            case "null": return (await NondetTask(string? () => null)) ?? "null";
            case "bytes": return Convert.ToHexString(await NondetTask(static () => new byte[] { 1, 2, 255 }));
            case "tuple": return (await NondetTask(static () => (1, "two", (int?)null))).ToString();
            case "stream": return $"{await NondetTask(static () => new MemoryStream())}";
            case "large": return Text((await NondetTask(static () => new byte[2000])).Length);
            case "retry":
                return Text(
                    await NondetTask(
                        context => context.Attempt < 3 ? throw new InvalidOperationException($"attempt {context.Attempt}")
                            : Do($"attempt {context.Attempt}"), retry));
            case "retryInVain":
                return Text(await NondetTask(int (context) => throw new InvalidOperationException($"attempt {context.Attempt}"), retry));
            case "retryNothingElse":
                return Text(
                    await NondetTask(int (context) => throw (context.Attempt < 2 ? new TimeoutException("late") : new ArgumentException("never")),
                        retry with { Attempts = 9, Backoff = TimeSpan.Zero, Retry = static e => e is TimeoutException }));
            case "retryThatThrows":
                return Text(
                    await NondetTask(int (context) => throw new ArgumentException($"attempt {context.Attempt}"),
                        retry with { Backoff = TimeSpan.Zero, Retry = static _ => throw new InvalidOperationException("undecided") }));
            case "deadline":
                await NondetTask(static context => ThisWorld.Async!(context), new NondetOptions { Deadline = TimeSpan.FromSeconds(5) });
                return "in time";
            case "deadlineInYears":
                await NondetTask(static context => ThisWorld.Async!(context), new NondetOptions { Deadline = TimeSpan.FromDays(400) });
                return "in time";
            case "deadlineNever":
                return Text(await NondetTask(static () => Do("at last"), new NondetOptions { Deadline = TimeSpan.MaxValue }));
            case "patient":
                return Text(
                    await NondetTask(
                        context => context.Attempt < 4 ? throw new InvalidOperationException($"attempt {context.Attempt}") : Do("patient"),
                        new NondetOptions { Attempts = 4, Backoff = TimeSpan.FromDays(100), BackoffMax = TimeSpan.MaxValue }));
            case "method": return Text(await NondetMethod(Measure, "method"));
            case "asyncMethod": return Text(await NondetMethod(MeasureAsync, ("a", 2)));
            case "voidMethod": await NondetMethod(Visit, 7); return "done";
            case "contextMethod": return await NondetMethod(Describe, "c");
            case "lambdaMethod": return Text(await NondetMethod(static text => text.Length, "refused"));
            case "badOptions": return Text(await NondetTask(static () => 1, new NondetOptions { Attempts = 0 }));
            case "surroundings": return Text(await NondetTask(() => Now.Year));
            default: return await OddResult(how, retry);
        }
    }

    /// <summary>Gives the result of a task of a rarer form.</summary>
    private async Call<string> OddResult(string how, NondetOptions retry)
    {
        switch (how)
        {
            case "throwsRemote":
                return Text(await NondetTask(int () => throw new RemoteCallException("Shop.Refused", "no credit", new("Shop.Cause", "why"))));
            case "throwsRemoteInside":
                return Text(
                    await NondetTask(
                        int () => throw new InvalidOperationException("the shop", new RemoteCallException("Shop.Refused", "no credit"))));
            case "endless":
                return Text(await NondetTask(static () => 1, new NondetOptions { Deadline = Timeout.InfiniteTimeSpan }));
            case "scope":
                return Text(await NondetTask(context => context.Services.GetService(typeof(int)) is null ? Do("scoped") : 0, retry));
            case "scopeThrows":
                return Text(
                    await NondetTask(
                        int (context) => throw new InvalidOperationException($"the body's own {context.Services.GetService(typeof(int))}")));
            default: throw new ArgumentException(how);
        }
    }

    private sealed class Mute : Exception
    {
        public override string Message => throw new InvalidOperationException("it says nothing");
    }

    private static string Text(int number) => number.ToString(CultureInfo.InvariantCulture);

    private static int Do(string what)
    {
        ThisWorld.Did.Add(what);
        return ++ThisWorld.Next;
    }

    private static Parcel MakeParcel()
    {
        var part = new Parcel { Name = "part" };
        return new Parcel { Name = "whole", Parts = [part, part], Twin = part };
    }

    private static int Measure(string text) => Do(text);

    private static async Task<int> MeasureAsync((string Name, int Count) what)
    {
        await Task.Yield();
        return Do($"{what.Name}{what.Count}");
    }

    private static Task Visit(int number)
    {
        Do($"visit {number}");
        return Task.CompletedTask;
    }

    private static string Describe(string text, NondetContext context) => $"{text} {context.IdempotencyKey}";
}
