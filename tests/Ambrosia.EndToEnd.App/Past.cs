using System.Text.Json;
using Ambrosia.Coordinator.Replica;

namespace Ambrosia.EndToEnd.App;

/// <summary>Looks at the past of a ledger or a shop in this process, as unit tests of their users would.</summary>
internal static class Past
{
    internal static int Look(string log, string until)
    {
        try
        {
            using ReplayedImmortal<Ledger> then = AmbrosiaHost.Debug<Ledger>(log, until);
            Console.WriteLine($"count {then.State.Count}, {then.Where}");
            then.Next();
            Console.WriteLine($"behind it {then.State.Count}, {then.Calls.Count} calls");
            then.To("start");
            then.To(until);
            Console.WriteLine($"again {then.State.Count}, view {AmbrosiaApp.IsView}, {then.Json().Contains("\"_count\"", StringComparison.Ordinal)}");
            Console.WriteLine($"path {JsonDocument.Parse(then.Json("_count")).RootElement.GetProperty("value")}");
            foreach (string line in then.Lines) Console.WriteLine($"line {line}");
            return 0;
        }
        catch (MisuseException misuse)
        {
            Console.Error.WriteLine(misuse.Message);
            return 2;
        }
    }

    /// <summary>Executes a cut of a shop's log.</summary>
    /// <param name="must">A path of the state and what must stand there; empty: it must be as it was then.</param>
    internal static int Again(string cut, string[] must)
    {
        try
        {
            using ReplayedImmortal<Shop> again = AmbrosiaHost.Replay<Shop>(cut);
            if (must is [var path, var json]) again.Must(path, json);
            else again.MustBeAlike();
            again.Must(static shop => shop.Left("axe") <= 100);
            Console.WriteLine("it holds");
            return 0;
        }
        catch (ReplayException different)
        {
            Console.WriteLine(different.Message);
            return 1;
        }
        catch (MisuseException misuse)
        {
            Console.Error.WriteLine(misuse.Message);
            return 2;
        }
    }
}
