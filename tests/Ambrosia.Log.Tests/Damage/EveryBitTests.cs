using Ambrosia.Log.Format;
using Ambrosia.TestKit;

namespace Ambrosia.Log.Tests;

/// <summary>
/// Every single bit of a 64 KiB log: below the last stated position a halt, above it a loud cut, never an accepted lie (I18). A commit
/// takes one bit of seven where they are many.
/// </summary>
public sealed class EveryBitTests
{
    private static readonly Lazy<SegmentImage> s_image = new(() => SegmentImage.Make());

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void Read_EveryBitFlipped_HaltsBelowWhatIsStatedAndCutsAbove(bool isRecycled)
    {
        SegmentImage image = isRecycled ? s_image.Value.AsRecycled() : s_image.Value;
        int from = isRecycled ? image.EndOffset - (12 << 10) : SegmentHeader.Bytes; // below, the two differ in nothing that is read
        int bits = (image.Bytes.Length - from) * 8;
        (int first, int step) = isRecycled ? (0, 1) : TestScale.Sample(7);
        int CasesOf(int bitsBelow) => (bitsBelow - first + step - 1) / step;
        Dictionary<DamageOracle.Answer, int> answers = Exhaustive.Run(image, CasesOf(bits), (reader, number) =>
        {
            int i = first + number * step;
            int zeros = image.EndOffset + 4_096; // the writer keeps these
            if (isRecycled) image.Stale.AsSpan(zeros).CopyTo(reader.Bytes.AsSpan(zeros));
            int at = from + i / 8;
            reader.Bytes[at] ^= (byte)(1 << i % 8);
            DamageOracle.Answer answer = DamageOracle.Check(reader, i % 64 == 0 ? 0 : Before(image, at));
            reader.Restore(at, 1);
            return answer;
        });
        int behind = (image.Bytes.Length - image.EndOffset) * 8;
        if (isRecycled)
        {
            // a bit of what was there before this life says nothing
            Assert.Equal((bits, behind - 4_096 * 8), (answers.Values.Sum(), answers[DamageOracle.Answer.Whole]));
            return;
        }
        int stated = (image.Offset(image.Stated) - from) * 8;
        Assert.Equal((CasesOf(stated), CasesOf(bits) - CasesOf(stated), 0),
            (answers[DamageOracle.Answer.Halt], answers[DamageOracle.Answer.Cut], answers[DamageOracle.Answer.Whole]));
    }

    /// <summary>A reader knows all that it needs to judge a page at the boundary before the page's record.</summary>
    private static int Before(SegmentImage image, int offset) => image.FirstOf(image.PageAt(offset));

    [Fact]
    public void Load_EveryBitOfTheHeaderFlipped_IsDamage()
    {
        Exhaustive.Run(s_image.Value, SegmentHeader.Bytes * 8, (reader, i) =>
        {
            reader.Bytes[i / 8] ^= (byte)(1 << i % 8);
            LogDamage damage = Assert.Throws<LogDamage>(reader.Load);
            Assert.Equal(s_image.Value.Segment.Path, damage.File);
            reader.Restore(i / 8, 1);
            return DamageOracle.Answer.Halt;
        });
    }

    [Fact]
    public void Image_Bits_AreMoreThan64KiB() =>
        Assert.True((s_image.Value.EndOffset - SegmentHeader.Bytes) * 8 + SegmentHeader.Bytes * 8 >= 524_288,
            $"{s_image.Value.EndOffset} bytes");
}
