using Ambrosia.Schedules;
using Ambrosia.Schedules.Rewriting;
using Ambrosia.Schedules.Strategies;
using Ambrosia.Schedules.Tests.Plants;

Plant? plant = args.Length > 4 && args[4] != "-" ? AllPlants.Named(args[4]) : null;
var set = new RewrittenAssemblies(typeof(Program).Assembly.Location, plant);
Scenario s = set.Make(args[0]);
using var e = new Explorer(s);
var w = System.Diagnostics.Stopwatch.StartNew();
IStrategy st = args[1] == "x" ? new ExhaustiveStrategy(int.Parse(args[2])) : new RandomStrategy(ulong.Parse(args[2]));
Finding? f = e.Run(st, int.Parse(args[3]));
Console.WriteLine($"{args[0]} {plant?.Name} {args[1]} {e.Schedules} {e.Steps} distinct {e.Distinct} longest {e.Longest} exhausted {e.IsExhausted} {w.Elapsed}");
Console.WriteLine(f);
if (f is not null && args.Length > 5) { Console.WriteLine(e.Trace(f.Schedule, out var again)); Console.WriteLine(again); }
