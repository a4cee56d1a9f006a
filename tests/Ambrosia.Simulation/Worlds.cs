using System.Runtime.ExceptionServices;

namespace Ambrosia.Simulation;

/// <summary>Worlds of many seeds, as many at a time as there are processors. A world lives on one thread.</summary>
internal static class Worlds
{
    /// <summary>Runs a world of each seed from <paramref name="first"/> on.</summary>
    /// <param name="lived">Called with each world that came to rest, one at a time.</param>
    /// <param name="workers">So many at a time; null: as many as there are processors.</param>
    /// <param name="failed">Called with each world that fails, one at a time, and the others go on; null: the first one ends it.</param>
    /// <exception cref="SimulationFailure">Of the lowest seed that fails, whichever came to it first.</exception>
    public static void Run(ulong first, int count, Func<ulong, Faults> faults, Action<World> lived, int? workers = null,
        Action<ulong, Exception>? failed = null)
    {
        var failures = new SortedDictionary<ulong, Exception>();
        Parallel.For(0, count, new ParallelOptions { MaxDegreeOfParallelism = workers ?? Environment.ProcessorCount }, (number, loop) =>
        {
            ulong seed = first + (ulong)number;
            try
            {
                var world = new World(seed, faults(seed));
                world.Run();
                lock (failures) lived(world);
            }
            catch (Exception e)
            {
                lock (failures)
                {
                    failures.Add(seed, e);
                    failed?.Invoke(seed, e);
                }
                if (failed is null) loop.Break(); // those below it are still run
            }
        });
        if (failures.Count > 0 && failed is null) ExceptionDispatchInfo.Throw(failures.First().Value);
    }
}
