using Real = System.Threading.Interlocked;

namespace Ambrosia.Schedules.Shims;

/// <summary>Stands for <see cref="System.Threading.Interlocked"/>: each operation is one step.</summary>
public static class Interlocked
{
    public static int Increment(ref int at)
    {
        Scheduler.Step(StepKind.Interlocked);
        return Real.Increment(ref at);
    }

    public static int Decrement(ref int at)
    {
        Scheduler.Step(StepKind.Interlocked);
        return Real.Decrement(ref at);
    }

    public static int Add(ref int at, int more)
    {
        Scheduler.Step(StepKind.Interlocked);
        return Real.Add(ref at, more);
    }

    public static int Exchange(ref int at, int to)
    {
        Scheduler.Step(StepKind.Interlocked);
        return Real.Exchange(ref at, to);
    }

    public static int CompareExchange(ref int at, int to, int from)
    {
        Scheduler.Step(StepKind.Interlocked);
        return Real.CompareExchange(ref at, to, from);
    }

    public static int Or(ref int at, int with)
    {
        Scheduler.Step(StepKind.Interlocked);
        return Real.Or(ref at, with);
    }

    public static int And(ref int at, int with)
    {
        Scheduler.Step(StepKind.Interlocked);
        return Real.And(ref at, with);
    }

    public static long Increment(ref long at)
    {
        Scheduler.Step(StepKind.Interlocked);
        return Real.Increment(ref at);
    }

    public static long Decrement(ref long at)
    {
        Scheduler.Step(StepKind.Interlocked);
        return Real.Decrement(ref at);
    }

    public static long Add(ref long at, long more)
    {
        Scheduler.Step(StepKind.Interlocked);
        return Real.Add(ref at, more);
    }

    public static long Exchange(ref long at, long to)
    {
        Scheduler.Step(StepKind.Interlocked);
        return Real.Exchange(ref at, to);
    }

    public static long CompareExchange(ref long at, long to, long from)
    {
        Scheduler.Step(StepKind.Interlocked);
        return Real.CompareExchange(ref at, to, from);
    }

    public static long Or(ref long at, long with)
    {
        Scheduler.Step(StepKind.Interlocked);
        return Real.Or(ref at, with);
    }

    public static long And(ref long at, long with)
    {
        Scheduler.Step(StepKind.Interlocked);
        return Real.And(ref at, with);
    }

    public static uint Increment(ref uint at)
    {
        Scheduler.Step(StepKind.Interlocked);
        return Real.Increment(ref at);
    }

    public static uint Decrement(ref uint at)
    {
        Scheduler.Step(StepKind.Interlocked);
        return Real.Decrement(ref at);
    }

    public static uint Add(ref uint at, uint more)
    {
        Scheduler.Step(StepKind.Interlocked);
        return Real.Add(ref at, more);
    }

    public static uint Exchange(ref uint at, uint to)
    {
        Scheduler.Step(StepKind.Interlocked);
        return Real.Exchange(ref at, to);
    }

    public static uint CompareExchange(ref uint at, uint to, uint from)
    {
        Scheduler.Step(StepKind.Interlocked);
        return Real.CompareExchange(ref at, to, from);
    }

    public static uint Or(ref uint at, uint with)
    {
        Scheduler.Step(StepKind.Interlocked);
        return Real.Or(ref at, with);
    }

    public static uint And(ref uint at, uint with)
    {
        Scheduler.Step(StepKind.Interlocked);
        return Real.And(ref at, with);
    }

    public static ulong Increment(ref ulong at)
    {
        Scheduler.Step(StepKind.Interlocked);
        return Real.Increment(ref at);
    }

    public static ulong Decrement(ref ulong at)
    {
        Scheduler.Step(StepKind.Interlocked);
        return Real.Decrement(ref at);
    }

    public static ulong Add(ref ulong at, ulong more)
    {
        Scheduler.Step(StepKind.Interlocked);
        return Real.Add(ref at, more);
    }

    public static ulong Exchange(ref ulong at, ulong to)
    {
        Scheduler.Step(StepKind.Interlocked);
        return Real.Exchange(ref at, to);
    }

    public static ulong CompareExchange(ref ulong at, ulong to, ulong from)
    {
        Scheduler.Step(StepKind.Interlocked);
        return Real.CompareExchange(ref at, to, from);
    }

    public static ulong Or(ref ulong at, ulong with)
    {
        Scheduler.Step(StepKind.Interlocked);
        return Real.Or(ref at, with);
    }

    public static ulong And(ref ulong at, ulong with)
    {
        Scheduler.Step(StepKind.Interlocked);
        return Real.And(ref at, with);
    }

    public static long Read(ref readonly long at)
    {
        Scheduler.Step(StepKind.Interlocked);
        return Real.Read(in at);
    }

    public static ulong Read(ref readonly ulong at)
    {
        Scheduler.Step(StepKind.Interlocked);
        return Real.Read(in at);
    }

    public static T Exchange<T>(ref T at, T to)
    {
        Scheduler.Step(StepKind.Interlocked);
        return Real.Exchange(ref at, to);
    }

    public static T CompareExchange<T>(ref T at, T to, T from)
    {
        Scheduler.Step(StepKind.Interlocked);
        return Real.CompareExchange(ref at, to, from);
    }

    /// <summary>It is no step: here all steps are seen by all in one order.</summary>
    public static void MemoryBarrier()
    {
    }
}
