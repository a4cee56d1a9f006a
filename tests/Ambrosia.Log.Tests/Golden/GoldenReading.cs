using System.Text.Encodings.Web;
using System.Text.Json;
using Ambrosia.Log.Checkpoints;
using Ambrosia.Log.Files;
using Ambrosia.Log.Format;
using Ambrosia.Log.Instances;
using Ambrosia.Log.Reading;
using Ambrosia.Log.Recovery;
using Ambrosia.Log.Segments;
using Ambrosia.Protocol.Hashing;

namespace Ambrosia.Log.Tests;

/// <summary>Renders all that a reader says of a log as JSON, which the committed expectations hold.</summary>
internal static class GoldenReading
{
    private static readonly JsonSerializerOptions s_json = new()
    {
        WriteIndented = true, Encoder = JavaScriptEncoder.UnsafeRelaxedJsonEscaping
    };

    public static string Of(IFileSystem fs)
    {
        InstanceIdentity identity = InstanceDirectory.TryRead(fs, GoldenMaker.Dir)!;
        using LogScan scan = LogScan.Open(fs, GoldenMaker.Dir, identity, new ScanOptions { GoesOn = true });
        var pages = new List<object>();
        var records = new List<LoggedRecord>();
        var spanning = new SpanningParts();
        while (scan.Next())
        {
            PageHeader page = scan.Page.Header;
            spanning.Add(scan.Page, records);
            pages.Add(new
            {
                Lsn = page.Lsn.Value, Segment = scan.Segment.Name.ToString(), page.Length, Flags = (int)page.Flags,
                DurableUpTo = page.DurableUpTo.Value, page.TimeMicros, page.Remaining, page.AppVersion,
                Hash = Hex(scan.Page.Hash),
            });
        }
        return JsonSerializer.Serialize(new
        {
            Instance = identity.Name, Uuid = identity.Uuid.ToString("D"),
            Segments = scan.Chain.Segments.Select(Describe),
            Pages = pages,
            Records = records.Select(
                r => new { Lsn = r.Lsn.Value, Kind = r.Kind.ToString(), Bytes = r.Body.Length, Crc = Hex(Crc32C.Of(r.Body)) }),
            Lost = scan.Lost.Select(l => new { From = l.From.Value, To = l.To.Value, File = Path.GetFileName(l.Why.File), l.Why.Offset }),
            Verdict = Describe(scan.Verdict!),
            Checkpoints = CheckpointDirectory.List(fs, GoldenMaker.Dir).Select(name => Describe(fs, name, identity, scan.Chain)),
        }, s_json) + "\n";
    }

    private static object Describe(LogSegment segment) => new
    {
        Name = segment.Name.ToString(), FirstLsn = segment.FirstLsn.Value, Predecessor = segment.Header.PredecessorNumber,
        PredecessorEpoch = segment.Header.PredecessorEpoch.Value, PredecessorHash = Hex(segment.Header.PredecessorHash),
        segment.Header.AppVersion, segment.Header.CreatedMicros,
    };

    private static object Describe(ReadVerdict verdict) => verdict switch
    {
        ReadVerdict.TornTail cut =>
            new
            {
                Kind = "cut", End = cut.End.Value, DurableUpTo = cut.DurableUpTo.Value, File = Path.GetFileName(cut.File),
                cut.Offset, cut.Bytes
            },
        ReadVerdict.Halt halt =>
            new
            {
                Kind = "halt", End = halt.End.Value, DurableUpTo = halt.DurableUpTo.Value, File = Path.GetFileName(halt.Damage.File),
                halt.Damage.Offset
            },
        _ => new { Kind = "whole", End = verdict.End.Value, DurableUpTo = verdict.DurableUpTo.Value },
    };

    private static object Describe(IFileSystem fs, CheckpointFileName name, InstanceIdentity identity, LogChain chain)
    {
        try
        {
            using CheckpointReader reader = CheckpointReader.Open(fs, Path.Combine(GoldenMaker.Dir, name.ToString()), identity);
            return new
            {
                Name = name.ToString(), Valid = true, PageLsn = reader.Header.PageLsn.Value, Digest = Hex(reader.Digest), reader.Bytes,
                Wrong = LogStart.WhatIsWrong(new LogLocation(fs, GoldenMaker.Dir, identity), reader.Header, chain),
            };
        }
        catch (LogDamage damage)
        {
            return new { Name = name.ToString(), Valid = false, damage.Offset };
        }
    }

    private static string Hex(ulong value) => $"0x{value:X16}";
}
