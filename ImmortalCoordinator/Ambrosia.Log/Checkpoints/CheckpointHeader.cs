using Ambrosia.Log.Format;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Payloads;
using Ambrosia.Protocol.Records;

namespace Ambrosia.Log.Checkpoints;

/// <summary>Says what a checkpoint is a checkpoint of (log-format L6.1).</summary>
/// <param name="Lsn">The checkpoint contains the effects of all records below it.</param>
/// <param name="PageLsn">Reading goes on at this page, which holds or begins at <paramref name="Lsn"/>.</param>
/// <param name="TimeMicros">µs since 1970.</param>
/// <param name="PreviousHash">Hash of the page before <paramref name="PageLsn"/>.</param>
/// <param name="Replica">The replica that wrote it.</param>
public sealed record CheckpointHeader(
    ushort Shard, Guid Uuid, Lsn Lsn, Lsn PageLsn, Epoch Epoch, uint AppVersion, uint ImageVersion, long TimeMicros,
    ulong PreviousHash, string Replica)
{
    internal const int BytesMax = 8 + 2 + 2 + 16 + 8 + 8 + 8 + 4 + 4 + 8 + 8 + 1 + Names.CharsMax + 1 + BuildId.Bytes;

    /// <summary>The build whose app gave the image; null when it did not say.</summary>
    public BuildId? Build { get; init; }

    private const ushort Format = 1;

    private static ReadOnlySpan<byte> Magic => "AMBRCKP1"u8;

    public CheckpointFileName FileName => new(Lsn, Epoch, Replica);

    internal int Write(Span<byte> to)
    {
        if (PageLsn > Lsn || PageLsn.Value % LogFormat.BlockBytes != 0)
            throw new ArgumentException($"a checkpoint of {Lsn} whose page begins at {PageLsn}");
        var writer = new PayloadWriter(to);
        writer.Raw(Magic);
        writer.U16(Format);
        writer.U16(Shard);
        writer.Uuid(Uuid);
        writer.U64(Lsn.Value);
        writer.U64(PageLsn.Value);
        writer.U64(Epoch.Value);
        writer.U32(AppVersion);
        writer.U32(ImageVersion);
        writer.I64(TimeMicros);
        writer.U64(PreviousHash);
        writer.Name(Replica);
        BuildId.Write(ref writer, Build);
        return writer.Written;
    }

    /// <exception cref="ProtocolViolation">The bytes break L6.1.</exception>
    internal static CheckpointHeader Read(ReadOnlySpan<byte> from)
    {
        var reader = PayloadReader.OfFile(from, "L6.1");
        if (!reader.Take(Magic.Length).SequenceEqual(Magic)) throw reader.Violation("L6.1", "a checkpoint without AMBRCKP1");
        ushort format = reader.U16();
        if (format != Format) throw reader.Violation("L6.1", $"checkpoint format {format}: written by a newer version");
        var header = new CheckpointHeader(
            reader.U16(), reader.Uuid(), new Lsn(reader.U64()), new Lsn(reader.U64()), new Epoch(reader.U64()), reader.U32(), reader.U32(),
            reader.I64(), reader.U64(), reader.Name())
        {
            Build = BuildId.Read(ref reader, "L6.1"),
        };
        reader.End();
        if (header.Lsn.Value >= Lsn.Limit || header.PageLsn > header.Lsn || header.PageLsn.Value % LogFormat.BlockBytes != 0)
            throw reader.Violation("L6.1", $"a checkpoint of {header.Lsn} whose page begins at {header.PageLsn}");
        return header;
    }
}
