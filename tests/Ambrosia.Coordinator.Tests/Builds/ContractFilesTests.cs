using System.Text;
using Ambrosia.Coordinator.Builds;
using Ambrosia.Coordinator.Replica;
using Ambrosia.Log.Instances;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Hashing;
using Ambrosia.TestKit;
using CRA.Catalog;

namespace Ambrosia.Coordinator.Tests;

/// <summary>What an app's build says of its methods stands beside the log (log-format L1.6).</summary>
public sealed class ContractFilesTests
{
    private const string Log = "/data/log", Contracts = $"{Log}/contracts";
    private static readonly byte[] s_manifest = Encoding.UTF8.GetBytes("""{"format":1,"contracts":[],"data":[]}""");

    private readonly SimulatedFileSystem _disk = new();
    private readonly List<string> _lines = [];

    public ContractFilesTests()
    {
        _disk.CreateDirectory(Log);
        foreach (string directory in (string[])["/", "/data"]) _disk.FlushDirectory(directory);
    }

    private ContractFiles NewFiles(string process) => new(new CoordinatorInputs
    {
        Options = new CoordinatorOptions { LogDirectory = Log, Catalog = CatalogPlace.OfDirectory("/data/catalog"), Instance = "bank" },
        Identity = new InstanceIdentity("bank", 0, Guid.NewGuid(), 1), Files = _disk.ForProcess(process), AppToken = new byte[32],
        Time = new FakeTime(), Random = static () => 0.5, Pumps = new HandPumps(), Logger = EventRecorder.OfTexts(_lines.Add),
    });

    [Fact]
    public void Keep_ManifestThatIsNew_IsThereUnderItsHashAndDurable()
    {
        NewFiles("a").Keep(s_manifest);
        NewFiles("a").Keep(s_manifest);
        string name = Assert.Single(_disk.List(Contracts));
        Assert.Equal($"{ChannelHash.Append(0, s_manifest):x16}.json", name);
        _disk.PowerLoss(1);
        Assert.Equal(s_manifest, _disk.ReadAll($"{Contracts}/{name}"));
    }

    [Fact]
    public void Keep_AnotherBuilds_StandsBesideIt()
    {
        NewFiles("a").Keep(s_manifest);
        NewFiles("a").Keep([.. s_manifest, (byte)'\n']);
        Assert.Equal(2, _disk.List(Contracts).Count);
    }

    /// <summary>A process was killed while it wrote the same one.</summary>
    [Fact]
    public void Keep_AfterAHalfWrittenOne_IsWhole()
    {
        _disk.CreateDirectory(Contracts);
        using (_disk.Create($"{Contracts}/{ChannelHash.Append(0, s_manifest):x16}.json.r0.tmp")) { }
        NewFiles("a").Keep(s_manifest);
        Assert.EndsWith(".json", Assert.Single(_disk.List(Contracts)));
    }

    [Theory]
    [InlineData("{")]
    [InlineData("no json")]
    [InlineData("{}{}")]
    public void Keep_WhatIsNoJson_BreaksTheProtocol(string text) =>
        Assert.Contains("P5.21", Assert.Throws<ProtocolViolation>(() => NewFiles("a").Keep(Encoding.UTF8.GetBytes(text))).Message);

    [Fact]
    public void Read_ManifestThatIsTooLong_BreaksTheProtocol()
    {
        Assert.Equal(ContractFrame.BytesMax, ContractFrame.Read(new byte[ContractFrame.BytesMax]).Length);
        Assert.Throws<ProtocolViolation>(static () => ContractFrame.Read(new byte[ContractFrame.BytesMax + 1]));
    }

    /// <summary>It is for people: the app goes on without it.</summary>
    [Fact]
    public void Keep_DiskThatFails_IsTold()
    {
        _disk.Faults.FailNth(1, FileFault.InputOutput, where: static operation => operation.Changes);
        NewFiles("a").Keep(s_manifest);
        Assert.StartsWith("the app's contract manifest is not kept in the log's directory: ", Assert.Single(_lines));
    }
}
