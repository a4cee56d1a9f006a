using System.Text;
using Ambrosia.Coordinator.Hosting;
using Ambrosia.Coordinator.Replica;
using Ambrosia.TestKit;
using CRA.Catalog;
using Xunit.Abstractions;

namespace Ambrosia.Coordinator.Tests;

/// <summary>The file that says with which app a replica went on: whatever stands in it, a start reads it or goes on without.</summary>
public sealed class NextAppFileTests(ITestOutputHelper output)
{
    private const int RoundsOfARelease = 50_000;

    private static readonly string[] s_pieces =
    [
        "\"version\":7,", "\"app\":[],", "null", "\\ud800", "[", "]", "{", "}", ",", ":", "\"", "-1", "1e400", "4294967296", "[[[[", "\0",
        "\u00ff",
    ];

    private readonly SimulatedFileSystem _disk = new();
    private readonly CoordinatorOptions _options = new()
    {
        LogDirectory = "/log", Instance = "a", Replica = "r0", Catalog = CatalogPlace.OfDirectory("/catalog"),
    };

    /// <summary>One name twice: the reader of JSON that takes it throws when it is asked for any.</summary>
    [Fact]
    public void TryRead_NameTwice_IsAsIfThereWereNone() =>
        Assert.Null(Read(Encoding.UTF8.GetBytes("{\"version\":7,\"version\":7,\"app\":[],\"oldApp\":[]}")));

    [Fact]
    public void TryRead_AnyBytes_AreReadOrAsIfThereWereNone()
    {
        int seed = Random.Shared.Next(), read = 0;
        output.WriteLine($"seed {seed}");
        var random = new Random(seed);
        byte[] whole = Encoding.UTF8.GetBytes("{\"version\":7,\"app\":[\"./new\",\"--x\"],\"oldApp\":[\"./old\"]}");
        Assert.Equal(7u, Read(whole)!.Version);
        for (int i = 0; i < TestScale.Rounds(RoundsOfARelease); i++)
        {
            byte[] bytes = Mutant(whole, random);
            NextAppFile? found = null;
            Exception? thrown = Record.Exception(() => found = Read(bytes));
            Assert.True(thrown is null, $"seed {seed}, round {i}: {Encoding.Latin1.GetString(bytes)}: {thrown}");
            if (found is not null) read++;
        }
        Assert.True(read > 0, "no mutant was read");
    }

    private NextAppFile? Read(byte[] bytes)
    {
        _disk.WriteAll(Path.Combine(_options.RunDirectory, "next-app.r0"), bytes);
        return NextAppFile.TryRead(_disk, _options);
    }

    private static byte[] Mutant(byte[] whole, Random random)
    {
        var bytes = new List<byte>(whole);
        for (int n = random.Next(1, 4); n > 0; n--)
        {
            int at = random.Next(bytes.Count + 1), count = Math.Min(bytes.Count - at, random.Next(20));
            if (random.Next(3) == 0) bytes.RemoveRange(at, count);
            else if (random.Next(2) == 0) bytes.InsertRange(at, Encoding.UTF8.GetBytes(s_pieces[random.Next(s_pieces.Length)]));
            else if (at < bytes.Count) bytes[at] = (byte)random.Next(256);
        }
        return [.. bytes];
    }
}
