using System.Text.Json.Nodes;
using Ambrosia.Log.Checkpoints;
using Ambrosia.Log.Files;
using Ambrosia.Log.Format;
using Ambrosia.Log.Instances;
using Ambrosia.Log.Reading;
using Ambrosia.Log.Segments;
using Ambrosia.Protocol;

namespace Ambrosia.Log.Tests;

/// <summary>
/// Walks protocol/vectors/log-*.json: every good input must decode to exactly what it states, whole only; every bad one must be refused.
/// </summary>
public sealed class VectorTests
{
    private const string Path = "/log/vector";
    private static readonly Dictionary<string, Vector> s_vectors = Load();

    public static TheoryData<string> Names => [.. s_vectors.Keys];

    [Theory]
    [MemberData(nameof(Names))]
    public void Vector_Whole_DecodesAsStatedOrIsRefused(string name)
    {
        Vector vector = s_vectors[name];
        if (vector.Expect is { } expect) Assert.Equal(expect.ToJsonString(), Decode(vector, vector.Bytes).ToJsonString());
        else Assert.NotNull(Refusal(vector, vector.Bytes));
    }

    [Theory]
    [MemberData(nameof(Names))]
    public void Vector_CutAtEveryPosition_IsRefused(string name)
    {
        Vector vector = s_vectors[name];
        if (vector.Expect is null) return;
        int step = vector.Bytes.Length > 1_000 ? 13 : 1;
        for (int length = 0; length < vector.Bytes.Length; length += step) Assert.NotNull(Refusal(vector, vector.Bytes.AsSpan(0, length)));
    }

    [Fact]
    public void Vectors_EveryStructure_HasGoodAndBadOnes()
    {
        foreach (IGrouping<string, Vector> structure in s_vectors.Values.GroupBy(v => v.Structure))
        {
            Assert.Contains(structure, v => v.Expect is not null);
            Assert.Contains(structure, v => v.Expect is null);
        }
        Assert.Equal(4, s_vectors.Values.Select(v => v.Structure).Distinct().Count());
    }

    /// <summary>The control: a bad vector that decodes, and a good one that decodes to something else, are noticed.</summary>
    [Fact]
    public void Vector_WithAnotherExpectation_IsNoticed()
    {
        Vector good = s_vectors.Values.First(v => v.Expect is not null);
        Assert.Null(Refusal(good, good.Bytes));
        JsonObject other = good.Expect!.DeepClone().AsObject();
        other["shard"] = 99;
        Assert.NotEqual(other.ToJsonString(), Decode(good, good.Bytes).ToJsonString());
    }

    private static string? Refusal(Vector vector, ReadOnlySpan<byte> bytes)
    {
        try
        {
            Decode(vector, bytes);
            return null;
        }
        catch (LogDamage damage)
        {
            return damage.Message;
        }
    }

    private static JsonObject Decode(Vector vector, ReadOnlySpan<byte> bytes) => vector.Structure switch
    {
        "instance" => Instance(bytes),
        "segmentHeader" => Segment(vector, bytes),
        "page" => Page(vector, bytes),
        "checkpointFile" => Checkpoint(vector, bytes),
        _ => throw new InvalidOperationException($"unknown structure {vector.Structure}"),
    };

    private static JsonObject Instance(ReadOnlySpan<byte> bytes)
    {
        InstanceIdentity identity = InstanceFile.Read(bytes, Path);
        Assert.Equal(bytes, InstanceFile.Write(identity));
        return new JsonObject
        {
            ["name"] = identity.Name, ["shard"] = identity.Shard, ["uuid"] = identity.Uuid.ToString("D"),
            ["createdMicros"] = $"{identity.CreatedMicros}",
        };
    }

    private static JsonObject Segment(Vector vector, ReadOnlySpan<byte> bytes)
    {
        SegmentFileName name = SegmentFileName.TryParse(vector.Text("name"))!.Value;
        SegmentHeader header = SegmentHeader.Read(bytes, Path, name, vector.Identity.Uuid, vector.Identity.Shard);
        byte[] written = new byte[SegmentHeader.Bytes];
        header.Write(written);
        if (bytes[92] == 1) Assert.Equal(bytes, written); // we write mode 1 only
        return new JsonObject
        {
            ["number"] = $"{header.Number}", ["epoch"] = $"{header.Epoch}", ["firstLsn"] = $"{header.FirstLsn}",
            ["predecessorNumber"] = $"{header.PredecessorNumber}", ["predecessorEpoch"] = $"{header.PredecessorEpoch}",
            ["predecessorHash"] = $"{header.PredecessorHash:x16}", ["appVersion"] = header.AppVersion,
            ["digestEvery"] = $"{header.DigestEvery}", ["createdMicros"] = $"{header.CreatedMicros}",
            ["fileBytes"] = $"{header.FileBytes}",
        };
    }

    private static JsonObject Page(Vector vector, ReadOnlySpan<byte> bytes)
    {
        var lsn = new Lsn(ulong.Parse(vector.Text("lsn")));
        Lsn first = vector.Context["firstLsn"] is { } stated ? new Lsn(ulong.Parse((string)stated!)) : lsn;
        var epoch = new Epoch(ulong.Parse(vector.Text("epoch")));
        var segment = new LogSegment(Path,
            new SegmentHeader(vector.Identity.Shard, vector.Identity.Uuid, 1, epoch, first, 0, default, 0, 0, 1 << 20, 0)
            {
                FileBytes = SegmentHeader.Bytes + (lsn - first) + bytes.Length
            });
        var fs = new MemoryFileSystem();
        using IFile file = fs.Create(Path);
        file.Write(bytes, segment.Header.OffsetOf(lsn));
        ulong? previous = vector.Context["previousHash"] is { } hash ? Convert.ToUInt64((string)hash!, 16) : null;
        var buffer = new PageBuffer(4_096);
        if (new PageInspector(segment).Read(file, lsn, new Lsn(ulong.MaxValue), previous, ref buffer) is { } fault)
            throw new LogDamage(Path, 0, lsn, fault.Expected, fault.Found);
        byte[] written = new byte[PageHeader.Bytes];
        buffer.Header.Write(written, PageHeader.SeedOf(vector.Identity.Uuid, vector.Identity.Shard));
        Assert.Equal(bytes[..PageHeader.Bytes], written);
        return new JsonObject
        {
            ["length"] = buffer.Length, ["flags"] = (int)buffer.Flags, ["durableUpTo"] = $"{buffer.DurableUpTo}",
            ["timeMicros"] = $"{buffer.TimeMicros}",
            ["remaining"] = buffer.Remaining, ["next"] = $"{buffer.Next}", ["appVersion"] = buffer.Header.AppVersion,
            ["hash"] = $"{buffer.Hash:x16}",
        };
    }

    private static JsonObject Checkpoint(Vector vector, ReadOnlySpan<byte> bytes)
    {
        var fs = new MemoryFileSystem();
        string path = $"/log/{vector.Text("name")}";
        using (IFile file = fs.Create(path)) file.Write(bytes, 0);
        using CheckpointReader reader = CheckpointReader.Open(fs, path, vector.Identity);
        var parts = new Dictionary<CheckpointSection, List<byte>> { [CheckpointSection.Outbox] = [], [CheckpointSection.Image] = [] };
        while (reader.Read(out CheckpointSection section, out ReadOnlySpan<byte> content)) parts[section].AddRange(content);
        return new JsonObject
        {
            ["lsn"] = $"{reader.Header.Lsn}", ["pageLsn"] = $"{reader.Header.PageLsn}", ["epoch"] = $"{reader.Header.Epoch}",
            ["appVersion"] = reader.Header.AppVersion, ["imageVersion"] = reader.Header.ImageVersion,
            ["timeMicros"] = $"{reader.Header.TimeMicros}",
            ["previousHash"] = $"{reader.Header.PreviousHash:x16}", ["replica"] = reader.Header.Replica,
            ["build"] = reader.Header.Build?.ToString() ?? "",
            ["digest"] = $"{reader.Digest:x16}",
            ["coordinator"] = Convert.ToHexStringLower(reader.CoordinatorBytes.Span),
            ["outbox"] = Convert.ToHexStringLower([.. parts[CheckpointSection.Outbox]]),
            ["image"] = Convert.ToHexStringLower([.. parts[CheckpointSection.Image]]),
        };
    }

    private static Dictionary<string, Vector> Load()
    {
        var vectors = new Dictionary<string, Vector>();
        foreach (string file in Directory.GetFiles(System.IO.Path.Combine(AppContext.BaseDirectory, "vectors"), "log-*.json")
            .Order(StringComparer.Ordinal))
            foreach (JsonNode? entry in JsonNode.Parse(File.ReadAllText(file))!.AsArray())
            {
                var vector = new Vector(entry!.AsObject());
                vectors.Add($"{vector.Structure}: {(string)entry["name"]!}", vector);
            }
        return vectors;
    }

    private sealed class Vector(JsonObject entry)
    {
        public string Structure => (string)entry["structure"]!;
        public JsonObject? Expect => entry["expect"]?.AsObject();
        public JsonObject Context => entry["context"]?.AsObject() ?? [];
        public byte[] Bytes { get; } = Assemble(entry);
        public InstanceIdentity Identity => new("counter", (ushort)(int)Context["shard"]!, Guid.Parse(Text("uuid")), 0);

        public string Text(string field) => (string)Context[field]!;

        private static byte[] Assemble(JsonObject entry)
        {
            byte[] tail = Convert.FromHexString((string?)entry["context"]?["tail"] ?? "");
            return [.. Convert.FromHexString((string)entry["hex"]!), .. new byte[(int?)entry["context"]?["zeros"] ?? 0], .. tail];
        }
    }
}
