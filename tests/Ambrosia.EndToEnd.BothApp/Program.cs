using Ambrosia;
using Ambrosia.EndToEnd.App;

// Who runs the tests kills by id.
Console.WriteLine($"app {Environment.ProcessId}");
return AmbrosiaApp.Run<AccountV1, Account>(args[1..]);
