using System.Globalization;

namespace Ambrosia.Perf;

/// <summary>
/// What Linux counts of each thread, summed over the threads of a process that live; one that ends takes its own with it.
/// </summary>
/// <param name="Waits">Times that one gave the processor up to wait for something.</param>
/// <param name="CompilationSeconds">Of the runtime's thread that compiles hot methods once more, in the background: the price of a start,
/// not of a message.</param>
internal readonly record struct ThreadUse(long Waits, double CompilationSeconds)
{
    private const string Compiler = ".NET Tiered Com", WaitsLine = "voluntary_ctxt_switches:"; // names of threads are 15 characters

    public static ThreadUse operator +(ThreadUse a, ThreadUse b) => new(a.Waits + b.Waits, a.CompilationSeconds + b.CompilationSeconds);

    public static ThreadUse OfProcess(int id)
    {
        ThreadUse sum = default;
        foreach (string thread in Directory.EnumerateDirectories($"/proc/{id}/task"))
        {
            try
            {
                sum += OfThread(thread);
            }
            catch (Exception e) when (e is IOException or UnauthorizedAccessException)
            {
                // It has just ended.
            }
        }
        return sum;
    }

    private static ThreadUse OfThread(string directory)
    {
        string name = "";
        long waits = 0;
        foreach (string line in File.ReadLines(Path.Combine(directory, "status")))
        {
            if (line.StartsWith("Name:", StringComparison.Ordinal)) name = line[5..].Trim();
            else if (line.StartsWith(WaitsLine, StringComparison.Ordinal))
                waits = long.Parse(line.AsSpan(WaitsLine.Length).Trim(), CultureInfo.InvariantCulture);
        }
        return new ThreadUse(waits, name == Compiler ? RunNanoseconds(directory) * 1e-9 : 0);
    }

    private static double RunNanoseconds(string directory) =>
        double.Parse(File.ReadAllText(Path.Combine(directory, "schedstat")).Split(' ')[0], CultureInfo.InvariantCulture);
}
