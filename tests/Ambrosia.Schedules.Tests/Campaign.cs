using System.Diagnostics;
using Ambrosia.Schedules.Rewriting;
using Ambrosia.Schedules.Strategies;

namespace Ambrosia.Schedules.Tests;

/// <summary>Runs random schedules of several scenarios in turns, and says at the end what was run of each.</summary>
internal static class Campaign
{
    private static readonly TimeSpan s_turn = TimeSpan.FromSeconds(10);

    /// <summary>Returns 1 if any schedule failed. A scenario that has failed is left alone from then on.</summary>
    public static int Run(RewrittenAssemblies copies, string[] names, TimeSpan limit, ulong seed)
    {
        var watch = Stopwatch.StartNew();
        List<Course> courses = [.. names.Select(name => new Course(name, new Explorer(copies.Make(name)), new RandomStrategy(seed)))];
        while (watch.Elapsed < limit && courses.Exists(static course => course.Finding is null))
        {
            foreach (Course course in courses.Where(static course => course.Finding is null))
            {
                if (watch.Elapsed >= limit) break;
                TimeSpan left = limit - watch.Elapsed, turn = limit / names.Length < s_turn ? limit / names.Length : s_turn;
                course.Finding = course.Explorer.Run(course.Strategy, int.MaxValue, left < turn ? left : turn);
                if (course.Finding is { } finding) Console.WriteLine(course.Explorer.Told(finding));
            }
        }
        Console.WriteLine($"{watch.Elapsed.TotalMinutes:F1} minutes, from seed {seed} on");
        foreach (Course course in courses)
        {
            string end = course.Finding is { } finding ? $"FAILED at seed {finding.Seed}" : "held";
            Console.WriteLine($"{course.Name,-24} {course.Explorer} {end}");
        }
        return courses.Exists(static course => course.Finding is not null) ? 1 : 0;
    }

    private sealed record Course(string Name, Explorer Explorer, RandomStrategy Strategy)
    {
        public Finding? Finding { get; set; }
    }
}
