using Ambrosia.Coordinator.Divergence;
using Ambrosia.Coordinator.Hosting;
using Ambrosia.Log.Files;
using Ambrosia.Protocol;
using Ambrosia.TestKit;

namespace Ambrosia.Coordinator.Tests;

/// <summary>What is kept of the last death and the last divergence; whatever becomes of the files, nobody else is harmed.</summary>
public sealed class IncidentFilesTests
{
    private const string Dir = "/log";
    private static readonly Incident s_death = new("r0", 1_700_000_000_000_000, 3, 4_160, 2) { ExitCode = 134 };
    private readonly SimulatedFileSystem _files = new();

    public IncidentFilesTests() => _files.CreateDirectory(Dir);

    [Fact]
    public void Last_OfEachKind_IsWhatWasWritten()
    {
        var divergence = new Incident("r0", 5, 3, 8_192, null) { From = 64, To = 9_000, Why = "it \"differs\"\nthere" };
        Assert.Null(IncidentFiles.LastDeath(_files, Dir));
        Write(s_death);
        Write(divergence);

        Assert.Equal(s_death, IncidentFiles.LastDeath(_files, Dir));
        Assert.Equal(divergence, IncidentFiles.LastDivergence(_files, Dir));
        Assert.Equal(["death.r0", "divergence.r0"], _files.List(Dir));
    }

    [Theory]
    [InlineData(134, 6)]
    [InlineData(1, null)]
    public void Signal_OfAnExitCode_IsWhatIsAbove128(int code, int? signal) =>
        Assert.Equal(signal, (s_death with { ExitCode = code }).Signal);

    [Theory]
    [InlineData(null, "4160")]
    [InlineData(2u, "4160:2")]
    public void At_WithOrWithoutAnIndex_IsAsCommandsTakeIt(uint? index, string text) =>
        Assert.Equal(text, (s_death with { Index = index }).At);

    [Fact]
    public void LastDeath_OfSeveralReplicas_IsTheNewest()
    {
        Write(s_death);
        Write(s_death with { Replica = "r1", TimeUs = s_death.TimeUs + 1, Place = 8_192 });
        Write(s_death with { Replica = "r2", TimeUs = s_death.TimeUs - 1 });
        Assert.Equal("r1", IncidentFiles.LastDeath(_files, Dir)!.Replica);

        Write(s_death with { TimeUs = s_death.TimeUs + 2 });
        Assert.Equal("r0", IncidentFiles.LastDeath(_files, Dir)!.Replica);
    }

    /// <summary>Nothing is flushed: a machine that stops leaves any part of a file, and somebody may have put another one there.</summary>
    [Fact]
    public void LastDeath_FilesThatAreNotWhole_IsThatOfTheOthers()
    {
        Write(s_death);
        byte[] whole = new byte[4_096];
        int length;
        using (IFile file = _files.Open($"{Dir}/death.r0", FileUse.Read)) length = file.Read(whole, 0);
        for (int cut = 0; cut < length - 1; cut++) // without the LF it is whole
        {
            Put("death.r1", whole[..cut]);
            Assert.Equal(s_death, IncidentFiles.LastDeath(_files, Dir));
        }
        foreach (string other in new[] { "[]", "7", "null", "{}", "{\"time\":\"x\",\"lsn\":1}", "{\"time\":9999999999999999,\"lsn\":-1}" })
        {
            Put("death.r1", System.Text.Encoding.UTF8.GetBytes(other));
            Assert.Equal(s_death, IncidentFiles.LastDeath(_files, Dir));
        }
        Put("death.r1.r1.5.tmp", whole[..length]);
        Assert.Equal(s_death, IncidentFiles.LastDeath(_files, Dir));
    }

    [Fact]
    public void Write_WhereItCannotBe_HasNoEffect()
    {
        IncidentFiles.Write(_files, "/nowhere", new Epoch(1), s_death);
        Assert.Null(IncidentFiles.LastDeath(_files, "/nowhere"));
    }

    [Theory]
    [InlineData("By the record: executing the record at Lsn 4160 ('ambrosia log DIR --from 4160' begins with it) the app makes", 4_160ul)]
    [InlineData("executing the record at Lsn 64", 64ul)]
    [InlineData("executing the record at Lsn x", null)]
    [InlineData("replay differs on the channel to bank", null)]
    public void RecordIn_LineOfAnEnd_IsTheOneThatItNames(string line, ulong? lsn) =>
        Assert.Equal(lsn, DivergenceReplay.RecordIn(line)?.Value);

    private void Write(Incident incident) => IncidentFiles.Write(_files, Dir, new Epoch(5), incident);

    private void Put(string name, byte[] content)
    {
        _files.Delete($"{Dir}/{name}");
        using IFile file = _files.Create($"{Dir}/{name}");
        file.Write(content, 0);
    }
}
