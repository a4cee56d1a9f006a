using Ambrosia;
using WebBank;

// One program: an immortal that a coordinator starts, both immortals in one process with their coordinators, or a web
// server in front of them.
switch (args)
{
    case ["bank"]: return AmbrosiaApp.Run<Bank>(args);
    case ["exchange"]: return AmbrosiaApp.Run<Exchange>(args);
    case ["host", ..]: return AmbrosiaHost.Run(args[1..], EmbeddedImmortal.Of<Bank>("bank"), EmbeddedImmortal.Of<Exchange>("exchange"));
    case ["web", var catalog, var urls]: return await WebApi.RunAsync(catalog, urls);
    default:
        Console.Error.WriteLine("WebBank bank | exchange | host --log DIR | web CATALOG URLS; see samples/WebBank/README.md");
        return 2;
}
