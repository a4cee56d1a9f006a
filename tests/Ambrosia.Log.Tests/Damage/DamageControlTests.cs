using Ambrosia.Log.Format;
using Ambrosia.Log.Reading;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Hashing;

namespace Ambrosia.Log.Tests;

/// <summary>
/// The controls of the damage tests: a reader with one check switched off, played by hiding from it what the check would find,
/// is caught by the oracle.
/// </summary>
public sealed class DamageControlTests
{
    private static readonly Lazy<SegmentImage> s_image = new(() => SegmentImage.Make());
    private readonly SegmentImage _image = s_image.Value;
    private readonly ImageReader _reader = new(s_image.Value);

    [Fact]
    public void Reader_ThatDoesNotSearchBehindDamage_IsCaught()
    {
        foreach (PageHeader page in _image.Pages.Where(p => p.Lsn < _image.Stated && p.Flags == PageFlags.None))
        {
            _reader.Bytes[_image.Offset(page.Lsn) + 70] ^= 1;
            byte[] damaged = [.. _reader.Bytes];
            Assert.Equal(DamageOracle.Answer.Halt, DamageOracle.Check(_reader));
            _reader.Bytes.AsSpan(_image.Offset(page.Next)).Clear();
            (int pages, ReadVerdict verdict) = _reader.Read();
            Assert.IsType<ReadVerdict.TornTail>(verdict);
            Assert.Throws<AcceptedLie>(() => DamageOracle.Judge(_image, damaged, pages, verdict));
            _reader.Restore();
        }
    }

    [Fact]
    public void Reader_WithoutPayloadCrc_IsCaught()
    {
        PageHeader last = _image.Pages[^1];
        int at = _image.Offset(last.Lsn);
        _reader.Bytes[at + 200] ^= 1;
        Stamp(last with { PayloadCrc = Crc32C.Of(_reader.Bytes.AsSpan(at + PageHeader.Bytes, last.Length - PageHeader.Bytes)) });
        Assert.Throws<AcceptedLie>(() => DamageOracle.Check(_reader));
    }

    [Fact]
    public void Reader_WithoutHeaderCrc_IsCaught()
    {
        PageHeader last = _image.Pages[^1];
        Stamp(last with { TimeMicros = last.TimeMicros + 1 });
        Assert.Throws<AcceptedLie>(() => DamageOracle.Check(_reader));
    }

    [Fact]
    public void Reader_WithoutPositions_IsCaught()
    {
        PageHeader last = _image.Pages[^1], other = _image.Pages[^2];
        _image.Bytes.AsSpan(_image.Offset(other.Lsn), other.Footprint).CopyTo(_reader.Bytes.AsSpan(_image.Offset(last.Lsn)));
        Stamp(other with { Lsn = last.Lsn, PreviousHash = last.PreviousHash });
        Assert.Throws<AcceptedLie>(() => DamageOracle.Check(_reader));
    }

    [Fact]
    public void Reader_WithoutTheHashOfThePageBefore_IsCaught()
    {
        // a page of a history that was dropped: whole, of this epoch and place, and behind another page than the one that stands before it
        PageHeader last = _image.Pages[^1];
        int at = _image.Offset(last.Lsn);
        _reader.Bytes[at + PageHeader.Bytes + 40] ^= 1;
        PageHeader dropped = last with
        {
            PayloadCrc = Crc32C.Of(_reader.Bytes.AsSpan(at + PageHeader.Bytes, last.Length - PageHeader.Bytes)), PreviousHash = 7
        };
        Stamp(dropped);
        Assert.Equal(DamageOracle.Answer.Cut, DamageOracle.Check(_reader)); // the check is there
        Stamp(dropped with { PreviousHash = last.PreviousHash });
        Assert.Throws<AcceptedLie>(() => DamageOracle.Check(_reader));
    }

    [Fact]
    public void Reader_WithWrongVerdicts_IsCaught()
    {
        int pages = _image.Pages.Count;
        PageHeader last = _image.Pages[^1], early = _image.Pages[1];
        byte[] torn = [.. _image.Bytes], zeros = [.. _image.Bytes], stale = [.. _image.Stale];
        torn[_image.Offset(last.Lsn) + 90] ^= 2;
        zeros.AsSpan(_image.Offset(last.Lsn)).Clear();
        _image.Bytes.AsSpan(0, _image.EndOffset).CopyTo(stale);
        var damage = new LogDamage(_image.Segment.Path, _image.Offset(last.Lsn), last.Lsn, "", "");
        var cut = new ReadVerdict.TornTail(last.Lsn, 4_096, _image.Segment.Path, _image.Offset(last.Lsn), "torn", _image.Stated);
        DamageOracle.Judge(_image, torn, pages - 1, cut);
        AssertCaught(torn, pages - 1, new ReadVerdict.CleanEnd(last.Lsn, _image.Stated));      // a silent cut
        AssertCaught(torn, pages - 1, new ReadVerdict.Halt(last.Lsn, damage, _image.Stated)); // a halt that nothing asks for
        AssertCaught(torn, 1, cut with { End = early.Lsn });                                 // too early
        AssertCaught(torn, pages - 1, cut with { Offset = 0 });
        AssertCaught(torn, pages, new ReadVerdict.CleanEnd(_image.End, _image.Stated));        // no answer at all
        AssertCaught(zeros, pages - 1, cut);                                                 // a loud cut of nothing
        AssertCaught(_image.Bytes, pages - 1, new ReadVerdict.CleanEnd(last.Lsn, _image.Stated));
    }

    [Fact]
    public void Load_HeaderWithoutCrc_WouldPassAChange()
    {
        byte[] header = new byte[SegmentHeader.Bytes];
        (_image.Segment.Header with { AppVersion = 8 }).Write(header);
        header.CopyTo(_reader.Bytes, 0);
        _reader.Load(); // so the exhaustive test of the header stands on its CRC
    }

    private void Stamp(PageHeader header) =>
        header.Write(_reader.Bytes.AsSpan(_image.Offset(header.Lsn)), PageHeader.SeedOf(_image.Identity.Uuid, _image.Identity.Shard));

    private void AssertCaught(byte[] now, int pages, ReadVerdict verdict) =>
        Assert.Throws<AcceptedLie>(() => DamageOracle.Judge(_image, now, pages, verdict));
}
