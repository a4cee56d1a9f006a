using Ambrosia.Calls;
using BenchmarkDotNet.Attributes;

namespace Ambrosia.Benchmarks;

/// <summary>What an await costs, beside the framework's tasks: completed at once, and suspended and resumed.</summary>
[MemoryDiagnoser]
public class Awaits
{
    private const int Count = 1000;

    private readonly Scheduler _scheduler = new(null!);
    private readonly Source<long>[] _sources = new Source<long>[Count];
    private readonly TaskCompletionSource<long>[] _completions = new TaskCompletionSource<long>[Count];

    [Benchmark(OperationsPerInvoke = Count)]
    public long CallAtOnce()
    {
        using (_scheduler.Enter()) return SumOfCalls().GetAwaiter().GetResult();
    }

    [Benchmark(OperationsPerInvoke = Count, Baseline = true)]
    public long ValueTaskAtOnce() => SumOfValueTasks().Result;

    [Benchmark(OperationsPerInvoke = Count)]
    public long TaskAtOnce() => SumOfTasks().Result;

    [Benchmark(OperationsPerInvoke = Count)]
    public long CallSuspended()
    {
        using Scheduler.Execution inside = _scheduler.Enter();
        long sum = 0;
        for (int i = 0; i < Count; i++)
        {
            _sources[i] = new Source<long>();
            Call<long> call = WaitFor(new Call<long>(_sources[i]));
            _sources[i].Complete(i);
            _scheduler.Drain();
            sum += call.GetAwaiter().GetResult();
        }
        return sum;
    }

    [Benchmark(OperationsPerInvoke = Count)]
    public long TaskSuspended()
    {
        long sum = 0;
        for (int i = 0; i < Count; i++)
        {
            _completions[i] = new TaskCompletionSource<long>();
            Task<long> task = WaitFor(_completions[i].Task);
            _completions[i].SetResult(i);
            sum += task.Result;
        }
        return sum;
    }

    private static async Call<long> WaitFor(Call<long> call) => 1 + await call;

    private static async Task<long> WaitFor(Task<long> task) => 1 + await task;

    private static async Call<long> SumOfCalls()
    {
        long sum = 0;
        for (int i = 0; i < Count; i++) sum += await OneCall(i);
        return sum;
    }

    private static async Call<long> OneCall(long value)
    {
        await default(Call);
        return value;
    }

    private static async ValueTask<long> SumOfValueTasks()
    {
        long sum = 0;
        for (int i = 0; i < Count; i++) sum += await OneValueTask(i);
        return sum;
    }

    private static async ValueTask<long> OneValueTask(long value)
    {
        await default(ValueTask);
        return value;
    }

    private static async Task<long> SumOfTasks()
    {
        long sum = 0;
        for (int i = 0; i < Count; i++) sum += await OneTask(i);
        return sum;
    }

    private static async Task<long> OneTask(long value)
    {
        await Task.CompletedTask;
        return 1000 + value;
    }
}
