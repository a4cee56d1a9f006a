using Ambrosia;
using Ambrosia.EndToEnd.App;
using Ambrosia.EndToEnd.App.Examples;

Settings.RewordFramework();
// Who runs the tests kills by id.
Console.WriteLine($"app {Environment.ProcessId}");
return args switch
{
    ["source", ..] => AmbrosiaApp.Run<Source>(args[1..]),
    ["ledger", ..] when Rude.IsNext => Rude.Run(),
    ["ledger", ..] => Programs.InTwoProcesses(args[1..]),
    ["poker", ..] => AmbrosiaApp.Run<Poker>(args[1..]),
    ["hub", ..] => AmbrosiaApp.Run<Hub>(args[1..]),
    ["steward", ..] => AmbrosiaApp.Run<Steward>(args[1..]),
    ["flooder", ..] => AmbrosiaApp.Run<Flooder>(args[1..]),
    ["ring", ..] => AmbrosiaApp.Run<Ring>(args[1..]),
    ["bank", ..] => AmbrosiaApp.Run<Bank>(args[1..]),
    ["workshop", ..] => AmbrosiaApp.Run<Workshop>(args[1..]),
    ["shop", ..] => AmbrosiaApp.Run<Shop>(args[1..]),
    ["account1", ..] => AmbrosiaApp.Run<AccountV1>(args[1..]),
    ["account", ..] => AmbrosiaApp.Run<AccountV1, Account>(args[1..]),
    ["account2", ..] => AmbrosiaApp.Run<Account>(args[1..]),
    ["meter", ..] => AmbrosiaApp.Run<Meter>(args[1..]),
    ["clumsy", ..] => AmbrosiaApp.Run<Clumsy>(args[1..]),
    ["erratic", ..] => AmbrosiaApp.Run<Erratic>(args[1..]),
    ["strict", ..] => AmbrosiaApp.Run<Strict>(args[1..]),
    ["look", var log, var until] => Past.Look(log, until),
    ["again", var cut, .. var must] => Past.Again(cut, must),
    ["host", "books,copies", ..] => Programs.ManyInOneProcess(args[2..]),
    ["host", "ring", ..] => AmbrosiaHost.Run(args[2..], [.. Settings.Ring.Select(static name => EmbeddedImmortal.Of<Ring>(name))]),
    ["host", var role, ..] when !role.Contains(',') => RunHost(role, args[2..]),
    ["host", var roles, ..] =>
        AmbrosiaHost.Run(args[2..], [.. roles.Split(',').Select(static role => new EmbeddedImmortal(role, DefinitionOf(role)))]),
    ["--log", var directory, ..] => Rude.RunCareless(directory),
    _ => 2,
};

static int RunHost(string role, string[] options) => role == "source" ? AmbrosiaHost.Run<Source>(options)
    : role == "strict" ? AmbrosiaHost.Run<Strict>(options) : Programs.InOneProcess(options);

static ImmortalDefinition DefinitionOf(string role) => role == "source" ? ImmortalDefinition.Of<Source>() : ImmortalDefinition.Of<Ledger>();
