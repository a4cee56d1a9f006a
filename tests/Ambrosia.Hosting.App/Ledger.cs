using Microsoft.Extensions.Configuration;

namespace Ambrosia.Hosting.App;

/// <summary>A service outside: it keeps a file for each payment, and knows one that it has.</summary>
public sealed class Ledger(IConfiguration configuration)
{
    public async Task<string> WriteAsync(string key, long cents)
    {
        string folder = Directory.CreateDirectory(configuration["Ledger"] ?? "ledger").FullName;
        string file = Path.Combine(folder, key.Replace('/', '-')), draft = $"{file}.{Environment.ProcessId}.{Guid.NewGuid():N}.draft";
        await File.WriteAllTextAsync(draft, $"{cents}");
        File.Move(draft, file, overwrite: true);
        return $"{cents} written";
    }
}
