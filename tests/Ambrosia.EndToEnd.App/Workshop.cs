namespace Ambrosia.EndToEnd.App;

/// <summary>Has the outside do things of which some end the process.</summary>
public interface IWorkshop
{
    Call<string> Do(string what);
}

/// <summary>
/// Each body says on a line that it begins, and that it ends. A body that is fatal ends the process, until the file UNTIL is there.
/// </summary>
public sealed partial class Workshop : Immortal<IWorkshopProxy>, IWorkshop
{
    public async Call<string> Do(string what)
    {
        try
        {
            return what switch
            {
                "fatal" => await NondetTask(static () => Fatal()),
                "slow" => await NondetTask(static () => Slow(TimeSpan.FromSeconds(2))),
                "endless" => await NondetTask(static () => Slow(TimeSpan.FromDays(1))),
                _ => await NondetTask(static () => "quick"),
            };
        }
        catch (RemoteCallException e)
        {
            return $"{e.TypeName}: {e.Message}";
        }
    }

    private static string Fatal()
    {
        Console.WriteLine("body begins: fatal");
        if (!File.Exists(Settings.Until)) Environment.FailFast("a library of the body has failed");
        return "mended";
    }

    private static async Task<string> Slow(TimeSpan time)
    {
        Console.WriteLine("body begins: slow");
        await Task.Delay(time);
        Console.WriteLine("body ends: slow");
        return "slow";
    }
}
