using Ambrosia.Log.Format;

namespace Ambrosia.Log.Tests;

/// <summary>Every pair of pages and of blocks swapped, duplicated, or replaced by what the recycled file had there.</summary>
public sealed class MisplacedPageTests
{
    private const int BlockBytes = 4_096;
    private static readonly Lazy<SegmentImage> s_image = new(() => SegmentImage.Make());

    [Fact]
    public void Read_EveryTwoPagesSwapped_AreNoticed()
    {
        Dictionary<DamageOracle.Answer, int> answers = RunPairs((image, reader, i, j) =>
        {
            (int first, int second, int size) = Places(image, i, j);
            image.Bytes.AsSpan(second, size).CopyTo(reader.Bytes.AsSpan(first));
            image.Bytes.AsSpan(first, size).CopyTo(reader.Bytes.AsSpan(second));
        });
        AssertNoticed(answers);
    }

    [Fact]
    public void Read_EveryPageWrittenOverEveryOther_IsNoticed()
    {
        Dictionary<DamageOracle.Answer, int> answers = RunPairs((image, reader, i, j) =>
        {
            (int first, int second, int size) = Places(image, i, j);
            image.Bytes.AsSpan(first, size).CopyTo(reader.Bytes.AsSpan(second));
        });
        AssertNoticed(answers);
    }

    [Fact]
    public void Read_EveryTwoBlocksSwapped_AreNoticed()
    {
        SegmentImage image = s_image.Value;
        int blocks = (image.EndOffset - SegmentHeader.Bytes) / BlockBytes;
        Dictionary<DamageOracle.Answer, int> answers = Exhaustive.Run(image, blocks * blocks, (reader, n) =>
        {
            if (n / blocks == n % blocks) reader.Bytes[SegmentHeader.Bytes] ^= 1; // with itself: the case would be a log without damage
            int first = SegmentHeader.Bytes + n / blocks * BlockBytes, second = SegmentHeader.Bytes + n % blocks * BlockBytes;
            if (first == second) return;
            image.Bytes.AsSpan(second, BlockBytes).CopyTo(reader.Bytes.AsSpan(first));
            image.Bytes.AsSpan(first, BlockBytes).CopyTo(reader.Bytes.AsSpan(second));
        });
        AssertNoticed(answers);
    }

    /// <summary>Writes that never reached a recycled file: each page alone, and each pair.</summary>
    [Fact]
    public void Read_EveryPageOrPairReplacedByThePredecessor_IsNeverAccepted()
    {
        SegmentImage image = s_image.Value.AsRecycled();
        Dictionary<DamageOracle.Answer, int> answers = Exhaustive.Run(image, image.Pages.Count * image.Pages.Count, (reader, n) =>
        {
            int zeros = image.EndOffset + BlockBytes; // the writer keeps these
            image.Stale.AsSpan(zeros).CopyTo(reader.Bytes.AsSpan(zeros));
            foreach (int page in new[] { n / image.Pages.Count, n % image.Pages.Count })
            {
                int at = image.Offset(image.Pages[page].Lsn);
                image.Stale.AsSpan(at, image.Pages[page].Footprint).CopyTo(reader.Bytes.AsSpan(at));
            }
        });
        Assert.True(answers[DamageOracle.Answer.Halt] > 0 && answers[DamageOracle.Answer.Cut] > 0);
    }

    private static Dictionary<DamageOracle.Answer, int> RunPairs(Action<SegmentImage, ImageReader, int, int> damage)
    {
        SegmentImage image = s_image.Value;
        int pages = image.Pages.Count;
        return Exhaustive.Run(image, pages * (pages - 1), (reader, n) =>
        {
            int i = n / (pages - 1), j = n % (pages - 1);
            damage(image, reader, i, j < i ? j : j + 1);
        });
    }

    private static (int First, int Second, int Size) Places(SegmentImage image, int i, int j) =>
        (image.Offset(image.Pages[i].Lsn), image.Offset(image.Pages[j].Lsn), Math.Min(image.Pages[i].Footprint, image.Pages[j].Footprint));

    private static void AssertNoticed(Dictionary<DamageOracle.Answer, int> answers)
    {
        Assert.Equal(0, answers[DamageOracle.Answer.Whole]);
        Assert.True(answers[DamageOracle.Answer.Halt] > 0 && answers[DamageOracle.Answer.Cut] > 0);
    }
}
