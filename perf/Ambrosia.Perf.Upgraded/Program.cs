using Ambrosia;
using Ambrosia.Perf;

// Who measures kills by id.
Console.WriteLine($"app {Environment.ProcessId}");
const int misuse = 2;
switch (args)
{
    case ["books"]: break;
    case ["books", "refuse" or "give-up"]: Faults.Planted = args[1]; break;
    default:
        Console.Error.WriteLine("Ambrosia.Perf starts this program: books, books refuse, or books give-up.");
        return misuse;
}
return AmbrosiaApp.Run<Books>([]);
