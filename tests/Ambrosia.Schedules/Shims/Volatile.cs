using Real = System.Threading.Volatile;

namespace Ambrosia.Schedules.Shims;

/// <summary>
/// Stands for <see cref="System.Threading.Volatile"/>: each access is one step. Behind a write there is another one, so that what is
/// written too late, behind the word that publishes it, can be seen missing.
/// </summary>
public static class Volatile
{
    public static bool Read(ref readonly bool at)
    {
        Scheduler.Step(StepKind.VolatileRead);
        return Real.Read(in at);
    }

    public static void Write(ref bool at, bool to)
    {
        Scheduler.Step(StepKind.VolatileWrite);
        Real.Write(ref at, to);
        Scheduler.Step(StepKind.Published);
    }

    public static byte Read(ref readonly byte at)
    {
        Scheduler.Step(StepKind.VolatileRead);
        return Real.Read(in at);
    }

    public static void Write(ref byte at, byte to)
    {
        Scheduler.Step(StepKind.VolatileWrite);
        Real.Write(ref at, to);
        Scheduler.Step(StepKind.Published);
    }

    public static int Read(ref readonly int at)
    {
        Scheduler.Step(StepKind.VolatileRead);
        return Real.Read(in at);
    }

    public static void Write(ref int at, int to)
    {
        Scheduler.Step(StepKind.VolatileWrite);
        Real.Write(ref at, to);
        Scheduler.Step(StepKind.Published);
    }

    public static uint Read(ref readonly uint at)
    {
        Scheduler.Step(StepKind.VolatileRead);
        return Real.Read(in at);
    }

    public static void Write(ref uint at, uint to)
    {
        Scheduler.Step(StepKind.VolatileWrite);
        Real.Write(ref at, to);
        Scheduler.Step(StepKind.Published);
    }

    public static long Read(ref readonly long at)
    {
        Scheduler.Step(StepKind.VolatileRead);
        return Real.Read(in at);
    }

    public static void Write(ref long at, long to)
    {
        Scheduler.Step(StepKind.VolatileWrite);
        Real.Write(ref at, to);
        Scheduler.Step(StepKind.Published);
    }

    public static ulong Read(ref readonly ulong at)
    {
        Scheduler.Step(StepKind.VolatileRead);
        return Real.Read(in at);
    }

    public static void Write(ref ulong at, ulong to)
    {
        Scheduler.Step(StepKind.VolatileWrite);
        Real.Write(ref at, to);
        Scheduler.Step(StepKind.Published);
    }

    public static double Read(ref readonly double at)
    {
        Scheduler.Step(StepKind.VolatileRead);
        return Real.Read(in at);
    }

    public static void Write(ref double at, double to)
    {
        Scheduler.Step(StepKind.VolatileWrite);
        Real.Write(ref at, to);
        Scheduler.Step(StepKind.Published);
    }

    public static T Read<T>(ref readonly T at) where T : class?
    {
        Scheduler.Step(StepKind.VolatileRead);
        return Real.Read(in at);
    }

    public static void Write<T>(ref T at, T to) where T : class?
    {
        Scheduler.Step(StepKind.VolatileWrite);
        Real.Write(ref at, to);
        Scheduler.Step(StepKind.Published);
    }
}
