using Ambrosia;
using CounterSample;

// One program, three apps: which one it is, says its only argument. As a host it is all three at once, with their coordinators.
switch (args)
{
    case ["counter"]: return AmbrosiaApp.Run<Counter>(args);
    case ["monitor"]: return AmbrosiaApp.Run<CounterSample.Monitor>(args);
    case ["input"]: return AmbrosiaApp.Run<MyImmortal>(args);
    case ["host", ..]:
        return AmbrosiaHost.Run(
            args[1..], EmbeddedImmortal.Of<CounterSample.Monitor>("mon1"), EmbeddedImmortal.Of<Counter>("counter1"),
            EmbeddedImmortal.Of<MyImmortal>("input"));
    case ["yesterday", "counter", var log, var position]: return Yesterday.Look<Counter>(log, position);
    case ["yesterday", "monitor", var log, var position]: return Yesterday.Look<CounterSample.Monitor>(log, position);
    default:
        Console.Error.WriteLine(
            "Counter counter | monitor | input; their coordinators start them. Or Counter host --log DIR; or Counter yesterday counter|monitor DIR POS. See samples/Counter/README.md");
        return 2;
}
