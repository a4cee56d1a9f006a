using System.Text.Json;
using Ambrosia.Coordinator.Replica;

namespace Ambrosia.EndToEnd.App;

/// <summary>Looks at the past of a ledger in this process, as a unit test of its users would.</summary>
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
}
