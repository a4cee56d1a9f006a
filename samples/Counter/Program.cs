using Ambrosia;
using CounterSample;

// One program, three apps: which one it is, says its only argument.
switch (args)
{
    case ["counter"]: return AmbrosiaApp.Run<Counter>(args);
    case ["monitor"]: return AmbrosiaApp.Run<CounterSample.Monitor>(args);
    case ["input"]: return AmbrosiaApp.Run<MyImmortal>(args);
    default:
        Console.Error.WriteLine("Counter counter | monitor | input; their coordinators start them, see samples/Counter/README.md");
        return 2;
}
