using System.Collections.Concurrent;

namespace Ambrosia.Log.Tests;

/// <summary>Runs every case of a family over all cores, each thread with a copy of the image of its own, and counts the answers.</summary>
internal static class Exhaustive
{
    /// <param name="damage">Changes the reader's bytes for case i; they are restored wholly afterwards.</param>
    public static Dictionary<DamageOracle.Answer, int> Run(SegmentImage image, int cases, Action<ImageReader, int> damage) =>
        Run(image, cases, (reader, i) =>
        {
            damage(reader, i);
            DamageOracle.Answer answer = DamageOracle.Check(reader);
            reader.Restore();
            return answer;
        });

    /// <param name="check">Damages, checks and restores.</param>
    public static Dictionary<DamageOracle.Answer, int> Run(SegmentImage image, int cases, Func<ImageReader, int, DamageOracle.Answer> check)
    {
        var counts = new ConcurrentDictionary<DamageOracle.Answer, int>();
        Parallel.For(0, cases, new ParallelOptions { MaxDegreeOfParallelism = Environment.ProcessorCount },
            () => (new ImageReader(image), new int[3]), (i, _, mine) =>
            {
                try
                {
                    mine.Item2[(int)check(mine.Item1, i)]++;
                }
                catch (AcceptedLie lie)
                {
                    throw new InvalidOperationException($"case {i}: {lie.Message}", lie);
                }
                return mine;
            }, mine =>
            {
                for (int a = 0; a < 3; a++) counts.AddOrUpdate((DamageOracle.Answer)a, mine.Item2[a], (_, n) => n + mine.Item2[a]);
            });
        return new Dictionary<DamageOracle.Answer, int>(counts);
    }
}
