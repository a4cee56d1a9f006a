namespace WebBank;

/// <summary>
/// Stands for a service outside that moves money, with a file in WEBBANK_PAYMENTS (or "payments") for each payment. Like any service worth
/// its money it takes a key with each order, and an order with a key that it has seen is the same order.
/// </summary>
internal static class PaymentNetwork
{
    public static async Task<string> PayAsync(string key, string to, long amount, string currency)
    {
        if (to == "nobody") throw new ArgumentException("nobody has no bank");
        string folder = Environment.GetEnvironmentVariable("WEBBANK_PAYMENTS") ?? "payments";
        string order = Path.Combine(Directory.CreateDirectory(folder).FullName, key.Replace('/', '-'));
        if (!File.Exists(order))
        {
            string draft = $"{order}.{Environment.ProcessId}";
            await File.WriteAllTextAsync(draft, $"{amount} {currency} to {to}\n");
            File.Move(draft, order, overwrite: true);
        }
        return $"{await File.ReadAllTextAsync(order)}".TrimEnd();
    }
}
