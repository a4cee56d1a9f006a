using Ambrosia;
using Ambrosia.EndToEnd.App;

// Who runs the tests kills by id.
Console.WriteLine($"app {Environment.ProcessId}");
return args switch
{
    ["source", ..] => AmbrosiaApp.Run<Source>(args[1..]),
    ["ledger", ..] => AmbrosiaApp.Run<Ledger>(args[1..]),
    ["poker", ..] => AmbrosiaApp.Run<Poker>(args[1..]),
    ["hub", ..] => AmbrosiaApp.Run<Hub>(args[1..]),
    ["steward", ..] => AmbrosiaApp.Run<Steward>(args[1..]),
    ["flooder", ..] => AmbrosiaApp.Run<Flooder>(args[1..]),
    ["ring", ..] => AmbrosiaApp.Run<Ring>(args[1..]),
    ["bank", ..] => AmbrosiaApp.Run<Bank>(args[1..]),
    _ => 2,
};
