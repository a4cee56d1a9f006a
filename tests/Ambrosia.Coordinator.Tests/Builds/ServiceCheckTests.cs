using System.Text;
using Ambrosia.Coordinator.Builds;
using Ambrosia.Coordinator.Replica;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Records;
using Ambrosia.Protocol.Runs;
using Ambrosia.TestKit;

namespace Ambrosia.Coordinator.Tests;

/// <summary>A view takes any build of the log's service, and none of another one.</summary>
public sealed class ServiceCheckTests
{
    private readonly Node _node = new(new SimulatedFileSystem(), new FakeTime(), new() { PageBytes = 64 << 10, SegmentBytes = 4 << 20 });

    /// <summary>The first build has executed a call of method 1.</summary>
    public ServiceCheckTests()
    {
        var app = new SpokenApp(_node, build: new SpokenBuild(1));
        app.BecomePrimary();
        app.Send(new DestinationFrame(0, new InstanceId("self")));
        app.Send(Made.Frame(FrameType.Run, Made.Run(MessageKind.Impulse, 1, 0, [Made.Raw(1, [7])])));
        app.Session.Pause(drained: true);
        _node.Commit();
    }

    [Theory]
    [InlineData(1, 0, null)]
    [InlineData(1, 5, "the app runs another immortal of it than 'self'")]
    [InlineData(2, 5, null)]
    public void Require_OfABuildThatHasTheMethods_RefusesAnotherImmortalOfTheSameOne(int build, ulong contract, string? refused)
    {
        string? why = Refusal(build, contract, method: 1);
        if (refused is null) Assert.Null(why);
        else Assert.Contains(refused, why, StringComparison.Ordinal);
    }

    [Fact]
    public void Require_OfABuildWithOtherMethods_Refuses() =>
        Assert.Contains(
            "has none of the methods that the log of 'self' calls", Refusal(2, contract: 5, method: 77), StringComparison.Ordinal);

    [Fact]
    public void Require_OfABuildThatSaysNothing_IsNotJudged() =>
        Check.Require(Hello(null, 5), null, null);

    private ServiceCheck Check => new(_node.InputsOf("view"), new ContractFiles(_node.InputsOf("view")));

    private string? Refusal(int build, ulong contract, uint method)
    {
        var id = new BuildId((UInt128)build);
        string json = $$"""{"format":1,"build":"{{id}}","methods":[{"id":{{method}},"name":"ITest.One","hash":"a"}]}""";
        try
        {
            Check.Require(Hello(id, contract), BuildMethods.Read(Encoding.UTF8.GetBytes(json)), null);
            return null;
        }
        catch (OtherServiceException other)
        {
            return other.Message;
        }
    }

    private static AppHello Hello(BuildId? build, ulong contract) =>
        new(1, 1, Node.Token, 1, 0, "test", "test", "", "", contract, 1) { Build = build };
}
