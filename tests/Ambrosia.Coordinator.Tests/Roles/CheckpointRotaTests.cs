using Ambrosia.Protocol;

namespace Ambrosia.Coordinator.Tests;

public sealed class CheckpointRotaTests
{
    private static readonly DateTimeOffset noon = new(2026, 1, 1, 12, 0, 0, TimeSpan.Zero);
    private readonly CheckpointRota rota = new("r0");

    [Fact]
    public void Choose_Alone_TakesItself()
    {
        Assert.Equal("r0", rota.Choose(["r0"]));
        Assert.Equal("r0", rota.Choose([]));
        rota.Marked("r0", new Lsn(1), noon);
        Assert.Null(rota.OnDuty);
        Assert.False(rota.MustMove([], noon.AddHours(1)));
    }

    [Fact]
    public void Choose_WithSecondaries_TakesOneOfThem() => Assert.Equal("r1", rota.Choose(["r0", "r1", "r2"]));

    [Fact]
    public void MustMove_HolderGone_AtOnce()
    {
        rota.Marked("r1", new Lsn(1), noon);
        Assert.False(rota.MustMove(["r0", "r1"], noon));
        Assert.True(rota.MustMove(["r0"], noon));
        Assert.Equal("r0", rota.Choose(["r0"]));
    }

    [Fact]
    public void MustMove_HolderDoesNothing_AfterPatienceAndToAnother()
    {
        rota.Marked("r1", new Lsn(1), noon);
        Assert.False(rota.MustMove(["r1", "r2"], noon + CheckpointRota.Patience));
        Assert.True(rota.MustMove(["r1", "r2"], noon + CheckpointRota.Patience + TimeSpan.FromSeconds(1)));
        Assert.Equal("r2", rota.Choose(["r1", "r2"]));
        Assert.Equal("r0", rota.Choose(["r1"])); // rather oneself than the one that does nothing
    }

    [Fact]
    public void Choose_AfterAnotherHasDoneIt_TakesThePassedOverOneAgain()
    {
        rota.PassOver("r1");
        Assert.Equal("r2", rota.Choose(["r0", "r1", "r2"]));
        rota.Marked("r2", new Lsn(1), noon);
        rota.Done();
        Assert.Equal("r1", rota.Choose(["r0", "r1", "r2"]));
    }

    [Fact]
    public void MustMove_ClockSetBack_CountsAnew()
    {
        rota.Marked("r1", new Lsn(1), noon);
        Assert.False(rota.MustMove(["r1"], noon.AddDays(-1)));
        Assert.True(rota.MustMove(["r1"], noon.AddDays(-1) + CheckpointRota.Patience * 2));
    }
}
