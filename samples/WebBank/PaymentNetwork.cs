namespace WebBank;

/// <summary>
/// Stands for a service outside that moves money. It writes a file for each payment into the directory that the configuration names as
/// Payments (or "payments"). Like any good service it takes a key with each order; an order with a key that it has seen is the same order.
/// </summary>
internal sealed class PaymentNetwork(IConfiguration configuration)
{
    public async Task<string> PayAsync(string key, string to, long amount, string currency)
    {
        if (to == "nobody") throw new ArgumentException("nobody has no bank");
        string folder = configuration["Payments"] ?? "payments";
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
