namespace WebBank;

/// <summary>Stands for a service outside that knows the rates of the moment.</summary>
internal static class Market
{
    public static async Task<(string Currency, long Rate)[]> AskAsync()
    {
        await Task.Delay(20);
        return [("CHF", 940 + Random.Shared.Next(20)), ("USD", 1080 + Random.Shared.Next(20))];
    }
}
