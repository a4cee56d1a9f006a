using System.Diagnostics;
using System.Globalization;

namespace Ambrosia.Hosting.Tests.Processes;

/// <summary>Calls whichever process serves at the moment, and repeats a call with its key until it has an answer.</summary>
/// <param name="serving">Where that process listens; null: nowhere at the moment.</param>
internal sealed class TillCaller(Func<Uri?> serving) : IDisposable
{
    private static readonly TimeSpan s_limit = TimeSpan.FromSeconds(90);

    private readonly HttpClient _client = new() { Timeout = TimeSpan.FromSeconds(60) };
    private int _repeated;

    /// <summary>So often a call had no answer and was repeated.</summary>
    internal int Repeated => _repeated;

    internal async Task<string> PostAsync(string path)
    {
        long begun = Stopwatch.GetTimestamp();
        while (true)
        {
            Assert.True(Stopwatch.GetElapsedTime(begun) < s_limit, $"{path} had no answer");
            if (serving() is { } address && await TryPost(new Uri(address, path)) is { } answer) return answer;
            await Task.Delay(5);
        }
    }

    /// <summary>Calls once; null: there was no answer.</summary>
    internal async Task<string?> TryAsync(string path) => serving() is { } address ? await TryPost(new Uri(address, path)) : null;

    internal async Task<long> SumAsync()
    {
        Uri? address;
        for (long begun = Stopwatch.GetTimestamp(); (address = serving()) is null; await Task.Delay(5))
            Assert.True(Stopwatch.GetElapsedTime(begun) < s_limit, "nobody serves");
        return long.Parse(await _client.GetStringAsync(new Uri(address, "/sum")), CultureInfo.InvariantCulture);
    }

    public void Dispose() => _client.Dispose();

    private async Task<string?> TryPost(Uri uri)
    {
        try
        {
            using HttpResponseMessage response = await _client.PostAsync(uri, null);
            if (response.IsSuccessStatusCode) return await response.Content.ReadAsStringAsync();
        }
        catch (Exception e) when (e is HttpRequestException or TaskCanceledException)
        {
            // The process has ended, and another one goes on.
        }
        Interlocked.Increment(ref _repeated);
        return null;
    }
}
