using Ambrosia.TestKit;

namespace Ambrosia.Log.Tests;

/// <summary>
/// A power loss in the middle of a commit group: any subset of its pages, of their blocks, or of the last page's sectors reached the disk,
/// over zeros, over the file's earlier content, or over nothing (the file ends).
/// </summary>
public sealed class PartialGroupTests
{
    private const int SectorBytes = 512, BlockBytes = 4_096;

    public enum Under { Zeroed, OldData }

    public static TheoryData<int, int, Under> Groups()
    {
        var groups = new TheoryData<int, int, Under>();
        foreach (Under under in Enum.GetValues<Under>())
            for (int pages = 1; pages <= 8; pages++)
                foreach (int bytes in new[] { 5_000, 8_200 }) groups.Add(pages, bytes, under);
        return groups;
    }

    [Theory]
    [MemberData(nameof(Groups))]
    public void Read_EverySubsetOfPages_IsTheLogToTheFirstMissing(int pages, int bytes, Under under)
    {
        SegmentImage image = Over(under, SegmentImage.Make(pages, bytes, 256 << 10));
        int first = image.Pages.Count - pages;
        Dictionary<DamageOracle.Answer, int> answers = Exhaustive.Run(image, 1 << pages, (reader, subset) =>
        {
            for (int i = 0; i < pages; i++)
                if ((subset & (1 << i)) == 0)
                    Lose(reader, image.Offset(image.Pages[first + i].Lsn), image.Pages[first + i].Footprint, under);
        });
        AssertNothingHalts(answers, 1 << pages);
        Assert.True(answers[DamageOracle.Answer.Whole] >= (under == Under.Zeroed ? pages + 1 : 1)); // each prefix is a log that ended there
    }

    [Theory]
    [InlineData(Under.Zeroed)]
    [InlineData(Under.OldData)]
    public void Read_EverySubsetOfBlocks_IsTheLogToTheFirstMissing(Under under)
    {
        SegmentImage image = Over(under, SegmentImage.Make(6, 5_000, 256 << 10));
        int from = image.Offset(image.Pages[^6].Lsn), blocks = (image.EndOffset - from) / BlockBytes;
        Assert.Equal(12, blocks);
        AssertNothingHalts(Exhaustive.Run(image, 1 << blocks, (reader, subset) =>
        {
            for (int i = 0; i < blocks; i++)
                if ((subset & (1 << i)) == 0) Lose(reader, from + i * BlockBytes, BlockBytes, under);
        }), 1 << blocks);
    }

    [Theory]
    [InlineData(Under.Zeroed)]
    [InlineData(Under.OldData)]
    public void Read_EverySubsetOfTheLastPagesSectors_IsAllOrACut(Under under)
    {
        SegmentImage image = Over(under, SegmentImage.Make(2, 5_500, 256 << 10));
        int page = image.Pages.Count - 1, from = image.Offset(image.Pages[page].Lsn), sectors = image.Pages[page].Footprint / SectorBytes;
        Assert.Equal(16, sectors);
        Dictionary<DamageOracle.Answer, int> answers = Exhaustive.Run(image, 1 << sectors, (reader, subset) =>
        {
            for (int i = 0; i < sectors; i++)
                if ((subset & (1 << i)) == 0) Lose(reader, from + i * SectorBytes, SectorBytes, under);
            DamageOracle.Answer answer = DamageOracle.Check(reader, page);
            reader.Restore(from, reader.Length - from);
            return answer;
        });
        AssertNothingHalts(answers, 1 << sectors);
    }

    [Theory]
    [InlineData(Under.Zeroed)]
    [InlineData(Under.OldData)]
    public void Read_RandomSubsetsOfALargeGroup_AreTheLogToTheFirstMissing(Under under)
    {
        const int pages = 24;
        SegmentImage image = Over(under, SegmentImage.Make(pages, 5_000, 512 << 10));
        int first = image.Pages.Count - pages, cases = TestScale.Rounds(100_000);
        AssertNothingHalts(Exhaustive.Run(image, cases, (reader, seed) =>
        {
            var random = new Random(seed);
            int keep = random.Next(101);
            for (int i = 0; i < pages; i++)
                if (random.Next(100) >= keep)
                    Lose(reader, image.Offset(image.Pages[first + i].Lsn), image.Pages[first + i].Footprint, under);
        }), cases);
    }

    private static SegmentImage Over(Under under, SegmentImage image) => under == Under.OldData ? image.AsRecycled() : image;

    private static void Lose(ImageReader reader, int offset, int count, Under under)
    {
        Span<byte> bytes = reader.Bytes.AsSpan(offset, count);
        if (under == Under.Zeroed) bytes.Clear();
        else reader.Image.Stale.AsSpan(offset, count).CopyTo(bytes);
    }

    private static void AssertNothingHalts(Dictionary<DamageOracle.Answer, int> answers, int cases)
    {
        Assert.Equal((cases, 0), (answers.Values.Sum(), answers[DamageOracle.Answer.Halt]));
        Assert.True(answers[DamageOracle.Answer.Whole] > 0);
    }
}
