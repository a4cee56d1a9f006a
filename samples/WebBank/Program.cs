using Ambrosia;
using WebBank;

// One program, two processes: the immortal, which a coordinator starts, and a web server in front of it.
switch (args)
{
    case ["bank"]: return AmbrosiaApp.Run<Bank>(args);
    case ["web", var catalog, var urls]: return await WebApi.RunAsync(catalog, urls);
    default:
        Console.Error.WriteLine("WebBank bank | web CATALOG URLS; see samples/WebBank/README.md");
        return 2;
}
