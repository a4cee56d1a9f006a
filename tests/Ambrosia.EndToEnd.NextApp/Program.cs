using Ambrosia;
using Ambrosia.EndToEnd.App;

// Who runs the tests kills by id.
Console.WriteLine($"app {Environment.ProcessId}");
return args switch
{
    ["account2", ..] => AmbrosiaApp.Run<AccountV1>(args[1..]),
    ["misuse", ..] => 2,
    _ => 1,
};
