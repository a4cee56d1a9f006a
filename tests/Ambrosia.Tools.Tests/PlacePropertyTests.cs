using System.Globalization;
using System.Text.Json;
using Ambrosia.Coordinator.Replica;
using Ambrosia.Inspection.Places;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Records;
using Ambrosia.Protocol.Runs;
using Ambrosia.TestKit;

namespace Ambrosia.Tools.Tests;

/// <summary>
/// In random logs each message is found at its place, and the first of each call id, key, method and time is the one that looking at every
/// line of 'ambrosia log' says.
/// </summary>
public sealed class PlacePropertyTests : IDisposable
{
    private const int IdsMax = 24, MethodsMax = 5, Steps = 60;

    private readonly TemporaryDirectory _temporary = new();

    /// <summary>A line of the log with its place.</summary>
    private sealed record Line(MessagePlace Place, string Kind, string? From, uint? Method, ulong? Call, string? Key, string Time)
    {
        public bool CallsMethod => Kind is "fork" or "call" or "impulse" or "clientRequest";
    }

    public void Dispose() => _temporary.Dispose();

    [Fact]
    public void Places_OfRandomLogs_AreThoseThatEveryLineSays()
    {
        for (ulong seed = 1; seed <= (ulong)TestScale.Rounds(40); seed++)
        {
            using var log = new PlaceLog(_temporary.Of($"log-{seed}"));
            var random = new SimulatedRandom(seed);
            for (int i = 0; i < Steps; i++) Step(log, random);
            if (seed % 3 > 0) log.Maker.Mark(); // else the last pages may be stated by none
            try
            {
                Check(log, [.. Lines(log.Directory)]);
            }
            catch (Exception e)
            {
                throw new InvalidOperationException($"seed {seed}: {e.Message}", e);
            }
        }
    }

    private static void Step(PlaceLog log, SimulatedRandom random)
    {
        uint origin = (uint)random.Next(3);
        int count = random.Next(1, 6);
        switch (random.Next(9))
        {
            case 0: log.Calls(origin, Ids(random, count)); break;
            case 1: log.Results(origin, Ids(random, count)); break;
            case 2: log.Keyed([.. Enumerable.Range(0, count).Select(_ => $"key-{random.Next(30)}")]); break;
            case 3: log.Request((ulong)random.Next(9), random.Next(2) == 0 ? "" : $"key-{random.Next(30)}"); break;
            case 4: log.Maker.Append(new TrimRecord([new TrimPosition(1, 9)])); break;
            case 5: log.Fill(1); break;
            case 6: log.Commit(); break;
            case 7 when random.Next(6) == 0: log.Checkpoint(); break;
            case 8 when random.Next(12) == 0: log.Spanning(random.Next(10_000, 90_000)); break;
            default:
                byte[][] messages =
                    [.. Enumerable.Range(0, count).Select(_ => Message.Of((uint)random.Next(1, MethodsMax), new byte[random.Next(300)]))];
                log.Maker.Run(random.Next(2) == 0 ? MessageKind.Fork : MessageKind.Impulse, origin, messages);
                break;
        }
    }

    private static ulong[] Ids(SimulatedRandom random, int count) =>
        [.. Enumerable.Range(0, count).Select(_ => (ulong)random.Next(1, IdsMax))];

    private static IEnumerable<Line> Lines(string directory)
    {
        ulong last = 0;
        uint index = 0;
        JsonElement[] lines = [.. ToolRun.Of("log", directory, "--records", "--json").JsonLines];
        ulong end = lines[^1].GetProperty("end").GetProperty("durableUpTo").GetUInt64();
        foreach (JsonElement line in lines[..^1])
        {
            JsonElement kind = line.GetProperty("kind");
            ulong lsn = line.GetProperty("lsn").GetUInt64();
            if (lsn >= end) break;
            index = lsn == last ? index + 1 : 0;
            last = lsn;
            yield return new Line(
                new MessagePlace(new Lsn(lsn), index), kind.GetString()!, Text(line, "from"),
                line.TryGetProperty("method", out JsonElement method) ? method.GetProperty("id").GetUInt32() : null,
                line.TryGetProperty("call", out JsonElement call) ? call.GetUInt64() : null, Text(line, "key"), Text(line, "time")!);
        }
    }

    private static string? Text(JsonElement line, string name) => line.TryGetProperty(name, out JsonElement text) ? text.GetString() : null;

    private static void Check(PlaceLog log, Line[] lines)
    {
        PlaceFinder finder = log.Finder;
        Assert.True(lines.Length > Steps / 2, $"{lines.Length} lines");
        foreach (Line line in lines)
        {
            FoundPlace found = finder.Find($"{line.Place}");
            Assert.Equal((line.Place, line.Kind, line.From), (found.Place, found.Entry!.Kind, found.Entry.From));
        }
        for (ulong id = 1; id < IdsMax; id++)
        {
            CheckCall(finder, lines, id, null);
            foreach (string sender in (string[])["counter", "ada", "bob"]) CheckCall(finder, lines, id, sender);
        }
        foreach (IGrouping<string, Line> key in lines.Where(static line => line.Key is not null).GroupBy(static line => line.Key!))
            Assert.Equal(key.First().Place, finder.Find($"key:{key.Key}").Place);
        for (uint method = 1; method <= MethodsMax; method++) CheckMethod(finder, lines, method);
        foreach (string time in lines.Select(static line => line.Time).Distinct())
            Assert.Equal(lines.FirstOrDefault(line => string.CompareOrdinal(line.Time, time) > 0)?.Place ?? finder.Find("end").Place,
                finder.Find(time).Place);
    }

    private static void CheckCall(PlaceFinder finder, Line[] lines, ulong id, string? sender)
    {
        Line[] fitting = [.. lines.Where(line => line.Call == id && (sender is null || line.From == sender))];
        Line? expected = fitting.FirstOrDefault(static line => line.Kind == "call") ?? fitting.FirstOrDefault();
        string position = sender is null ? $"call:{id}" : $"call:{sender}#{id}";
        if (expected is null) Assert.Throws<MisuseException>(() => finder.Find(position));
        else Assert.Equal(expected.Place, finder.Find(position).Place);
    }

    private static void CheckMethod(PlaceFinder finder, Line[] lines, uint method)
    {
        MessagePlace[] expected = [.. lines.Where(line => line.CallsMethod && line.Method == method).Select(static line => line.Place)];
        for (int i = 0; i < expected.Length; i += 1 + expected.Length / 8)
            Assert.Equal(expected[i], finder.Find(string.Create(CultureInfo.InvariantCulture, $"method:{method}#{i + 1}")).Place);
        Assert.Throws<MisuseException>(() => finder.Find(string.Create(CultureInfo.InvariantCulture, $"method:{method}#{expected.Length + 1}")));
    }
}
