using Ambrosia.Coordinator.Checkpoints;
using Ambrosia.Protocol;

namespace Ambrosia.Coordinator.Tests;

public sealed class CheckpointAssignerTests
{
    private static readonly TimeSpan s_noon = TimeSpan.FromHours(12);
    private readonly CheckpointAssigner _assigner = new("r0");

    [Fact]
    public void Choose_Alone_TakesItself()
    {
        Assert.Equal("r0", _assigner.Choose(["r0"]));
        Assert.Equal("r0", _assigner.Choose([]));
        _assigner.Marked("r0", new Lsn(1), s_noon);
        Assert.Null(_assigner.Assignee);
        Assert.False(_assigner.MustMove([], s_noon + TimeSpan.FromHours(1)));
    }

    [Fact]
    public void Choose_WithSecondaries_TakesOneOfThem() => Assert.Equal("r1", _assigner.Choose(["r0", "r1", "r2"]));

    [Fact]
    public void MustMove_HolderGone_AtOnce()
    {
        _assigner.Marked("r1", new Lsn(1), s_noon);
        Assert.False(_assigner.MustMove(["r0", "r1"], s_noon));
        Assert.True(_assigner.MustMove(["r0"], s_noon));
        Assert.Equal("r0", _assigner.Choose(["r0"]));
    }

    [Fact]
    public void MustMove_HolderDoesNothing_AfterPatienceAndToAnother()
    {
        _assigner.Marked("r1", new Lsn(1), s_noon);
        Assert.False(_assigner.MustMove(["r1", "r2"], s_noon + CheckpointAssigner.Patience));
        Assert.True(_assigner.MustMove(["r1", "r2"], s_noon + CheckpointAssigner.Patience + TimeSpan.FromSeconds(1)));
        Assert.Equal("r2", _assigner.Choose(["r1", "r2"]));
        Assert.Equal("r0", _assigner.Choose(["r1"])); // rather oneself than the one that does nothing
    }

    [Fact]
    public void Choose_AfterAnotherHasDoneIt_TakesThePassedOverOneAgain()
    {
        _assigner.PassOver("r1");
        Assert.Equal("r2", _assigner.Choose(["r0", "r1", "r2"]));
        _assigner.Marked("r2", new Lsn(1), s_noon);
        _assigner.Done();
        Assert.Equal("r1", _assigner.Choose(["r0", "r1", "r2"]));
    }
}
