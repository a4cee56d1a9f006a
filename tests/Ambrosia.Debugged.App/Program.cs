using System.Diagnostics;
using Ambrosia;
using Ambrosia.Debugged.App;

Console.WriteLine($"app {Environment.ProcessId}");
if (args is not ["look", var log, var until]) return AmbrosiaApp.Run<Diary>(args);

while (!Debugger.IsAttached) Thread.Sleep(10);
using ReplayedImmortal<Diary> then = AmbrosiaHost.Debug<Diary>(log, until);
Console.WriteLine(then.Where);
Debugger.Break();
then.Next();
Console.WriteLine(then.Where);
return 0;
