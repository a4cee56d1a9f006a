using Ambrosia.Protocol.Locking;
using Ambrosia.TestKit;

namespace Ambrosia.Log.Tests;

/// <summary>
/// The machine loses power before every operation of a short life, and the device has kept every subset of what was not flushed, in every
/// version: blocks of pages, zeros and headers, lengths, names. After each of them everything that was acknowledged is there.
/// </summary>
public sealed class EveryPowerLossTests
{
    /// <summary>More subsets at one operation than this are a mistake of the scenario: it could not try them all.</summary>
    private const int OutcomesMax = 65_536;

    [Fact]
    public void Recover_EverySubsetAtEveryOperation_HasEverythingDurable()
    {
        var life = new TruncationScenario(rounds: 12);
        (int first, int step) = TestScale.Sample(7);
        (int moments, long outcomes) = LosePower(life, first, step);
        Assert.Null(life.Death);
        Assert.True(life.Recycled > 0, "no file lives twice");
        Assert.True(moments > 300 / step && outcomes > 1_000 / step, $"{outcomes} outcomes of {moments} moments");
    }

    /// <summary>
    /// The controls: with the flushes of segments, of checkpoints, or of names left out, some subset loses what was promised.
    /// </summary>
    [Theory]
    [InlineData("log.")]
    [InlineData("spare.")]
    [InlineData("ckpt.")]
    [InlineData("instance")]
    [InlineData(InterceptedFiles.Directory)]
    public void LosePower_FlushesLeftOut_IsNoticed(string which)
    {
        var life = new TruncationScenario(rounds: 12)
        {
            View = files => new InterceptedFiles(files) { LeavesOutFlush = name => name.StartsWith(which, StringComparison.Ordinal) }
        };
        Assert.ThrowsAny<Exception>(() => LosePower(life, 0, 1));
    }

    /// <summary>
    /// The power goes in each way before operations that follow one that changed something; how many moments, how many outcomes.
    /// </summary>
    /// <param name="first">It goes first before this one, from 0, and then before one of so many.</param>
    private static (int Moments, long Outcomes) LosePower(TruncationScenario life, int first, int step)
    {
        int moments = 0, passed = step - first;
        long outcomes = 0;
        bool hasChanged = true;
        life.Before = next =>
        {
            if (hasChanged && passed++ % step == 0)
            {
                moments++;
                // A machine without power has no thread that holds a lock; who recovers is another.
                LockChecks.AsAnotherThread(() => outcomes += LosePower(life, life.Disk, next));
            }
            hasChanged = next.Changes;
        };
        life.Run();
        return (moments, outcomes);
    }

    private static long LosePower(TruncationScenario life, SimulatedFileSystem now, FileOperation next)
    {
        var choices = new PowerLossChoices();
        do
        {
            SimulatedFileSystem after = now.Copy();
            after.PowerLoss(choices);
            life.Check(after, $"power lost before {next}, kept {choices}");
            Assert.True(choices.Count <= OutcomesMax, $"more than {OutcomesMax} outcomes before {next}");
        }
        while (choices.Next());
        return choices.Count;
    }
}
