using Ambrosia.Log.Format;
using Ambrosia.Log.Reading;

namespace Ambrosia.Log.Tests;

/// <summary>
/// A log of 72 KiB of which every length is left, with nothing, zeros, the content of the file's earlier life or noise behind it. A file
/// that ends there was cut, and is damaged wherever that is; the others are what a torn write leaves.
/// </summary>
public sealed class EveryLengthTests
{
    private static readonly Lazy<SegmentImage> s_image = new(() => SegmentImage.Make());

    public enum Fill { Truncated, Zeroed, OldData, Random }

    [Theory]
    [InlineData(Fill.Truncated)]
    [InlineData(Fill.Zeroed)]
    [InlineData(Fill.OldData)]
    [InlineData(Fill.Random)]
    public void Read_CutAtEveryLength_LosesNothingStatedAndInventsNothing(Fill fill)
    {
        SegmentImage image = fill == Fill.OldData ? s_image.Value.AsRecycled() : s_image.Value;
        byte[] noise = new byte[image.Bytes.Length];
        new Random(9).NextBytes(noise);
        int lengths = image.EndOffset - SegmentHeader.Bytes + 1;
        Dictionary<DamageOracle.Answer, int> answers = Exhaustive.Run(image, lengths, (reader, i) =>
        {
            int length = SegmentHeader.Bytes + i;
            Span<byte> rest = reader.Bytes.AsSpan(length);
            switch (fill)
            {
                case Fill.Truncated: reader.Length = length; break;
                case Fill.Zeroed: rest.Clear(); break;
                case Fill.OldData: image.Stale.AsSpan(length).CopyTo(rest); break;
                case Fill.Random: noise.AsSpan(length).CopyTo(rest); break;
            }
            DamageOracle.Answer answer = DamageOracle.Check(reader, image.FirstOf(image.PageAt(Math.Min(length, image.EndOffset - 1))));
            if (i % 256 == 0) AgreesWithTakeOver(reader);
            reader.Length = reader.Bytes.Length;
            reader.Restore(length, reader.Length - length);
            return answer;
        });
        Assert.Equal(lengths, answers.Values.Sum());
        Assert.Equal(fill == Fill.Truncated ? lengths : 0, answers[DamageOracle.Answer.Halt]); // else nothing is stated behind
        if (fill == Fill.Truncated) return;
        Assert.Equal(fill != Fill.Random, answers[DamageOracle.Answer.Whole] > 0);
        Assert.InRange(answers[DamageOracle.Answer.Cut], lengths / 2, lengths);
    }

    /// <summary>A take-over reads by other code above the same rules: its answer is the scan's.</summary>
    private static void AgreesWithTakeOver(ImageReader reader)
    {
        ReadVerdict read = reader.Read().Verdict, taken = reader.TakeOver();
        Assert.Equal(read.GetType(), taken.GetType());
        if (reader.Length == reader.Bytes.Length) Assert.Equal(read.End, taken.End); // else it stops before any page
        if (taken is not ReadVerdict.Halt) Assert.Equal(read, taken);
    }
}
