using System.Text;
using Ambrosia.Protocol;
using Ambrosia.TestKit;
using CRA.Catalog;
using Xunit.Abstractions;

namespace CRA.Tests;

/// <summary>
/// A catalog, be it files or a store, may hold any bytes: an entry is read whole or refused with a reason,
/// and what the environment says of credentials is read or misuse.
/// </summary>
public sealed class EntryFuzzTests(ITestOutputHelper output)
{
    private const int RoundsOfARelease = 100_000, BytesMax = 2048;

    private static readonly string[] s_pieces =
    [
        "\"", "{", "}", "[", "]", ",", ":", "null", "\\ud800", "\\u0000", "-1", "1e400", "18446744073709551616", "\"instance\":\"\"",
        "\"shard\":65536", "\"uuid\":\"00000000-0000-0000-0000-000000000000\"", "\"replicas\":[null]", "\"epoch\":0", "\"address\":\"\\n\"",
        "[[[[[[[[[[[[[[[[", "true", "\0", "\u00ff",
    ];

    [Fact]
    public void Entry_OfAnyBytes_IsReadOrRefusedWithAReason()
    {
        int seed = Random.Shared.Next();
        output.WriteLine($"seed {seed}");
        var random = new Random(seed);
        byte[] whole = EntryJson.Encode(CatalogContract.Entry(7));
        int read = 0;
        for (int i = 0; i < TestScale.Rounds(RoundsOfARelease); i++)
        {
            byte[] bytes = Mutant(whole, random);
            string repeat = $"seed {seed}, round {i}: {Encoding.Latin1.GetString(bytes)}";
            Exception? thrown = Record.Exception(() =>
            {
                CatalogEntry? entry = EntryJson.Decode(bytes, out string wrong);
                Assert.Equal(entry is null, wrong.Length > 0);
                if (entry is null) return;
                read++;
                Assert.NotNull(EntryJson.Decode(EntryJson.Encode(entry), out _));
            });
            Assert.True(thrown is null, $"{repeat}: {thrown}");
        }
        Assert.True(read > 0, "no mutant was an entry");
    }

    [Fact]
    public void Credentials_OfAnyEnvironment_AreReadOrMisuse()
    {
        int seed = Random.Shared.Next();
        output.WriteLine($"seed {seed}");
        var random = new Random(seed);
        for (int i = 0; i < TestScale.Rounds(RoundsOfARelease / 10); i++)
        {
            Dictionary<string, string> said = [];
            Exception? thrown = Record.Exception(() => CatalogCredentials.Read(
                name => said[name] = Text(random) ?? "", (_, _) => Text(random) ?? throw new IOException("it is not there")));
            Assert.True(thrown is null or CatalogException,
                $"seed {seed}, round {i}: {string.Join(", ", said)}: {thrown}");
        }
    }

    private static string? Text(Random random) => random.Next(5) switch
    {
        0 => null,
        1 => "",
        2 => new string((char)random.Next(1, 0x10000), random.Next(1, 300)),
        3 => s_pieces[random.Next(s_pieces.Length)],
        _ => $"/{random.Next()}",
    };

    private static byte[] Mutant(byte[] whole, Random random)
    {
        var bytes = new List<byte>(whole);
        for (int n = random.Next(1, 4); n > 0; n--)
        {
            int at = random.Next(bytes.Count + 1), count = Math.Min(bytes.Count - at, random.Next(30));
            switch (random.Next(4))
            {
                case 0: bytes.RemoveRange(at, count); break;
                case 1: bytes.InsertRange(at, Encoding.UTF8.GetBytes(s_pieces[random.Next(s_pieces.Length)])); break;
                case 2: if (at < bytes.Count) bytes[at] = (byte)random.Next(256); break;
                default:
                    byte[] noise = new byte[random.Next(40)];
                    random.NextBytes(noise);
                    bytes.InsertRange(at, noise);
                    break;
            }
        }
        return [.. bytes.Take(BytesMax)];
    }
}
