using HelloWorld;
using HelloWorld.Orchestration;

namespace Ambrosia.Samples.Tests;

/// <summary>The verdict of the sample lets nothing pass that is not exactly once and in order.</summary>
public sealed class VerdictTests
{
    private const long Calls = 1000;

    private static readonly ClientReport s_client = new("q", "order", Calls, Calls, 10, 0, IsCalling: false);

    [Fact]
    public void Verdict_EveryCallOnceInOrder_Holds() => Assert.True(Verdict.Of(s_client, ServerThatApplied(All()), Calls).Holds);

    [Fact]
    public void Verdict_LostCall_Fails() => AssertFault("lost", s_client, ServerThatApplied(All().Where(static n => n != 500)));

    [Fact]
    public void Verdict_DoubledCall_Fails() => AssertFault("more than once", s_client, ServerThatApplied(All().Append(Calls)));

    [Fact]
    public void Verdict_SwappedCalls_Fails() => AssertFault("not applied in order", s_client, ServerThatApplied([2, 1, .. All().Skip(2)]));

    [Fact]
    public void Verdict_LostAndAnotherDoubled_Fails() =>
        AssertFault("not applied in order", s_client, ServerThatApplied([1, 1, .. All().Skip(2)]));

    [Fact]
    public void Verdict_WrongAnswer_Fails() =>
        AssertFault("not the next number", s_client with { WrongAnswers = 1 }, ServerThatApplied(All()));

    [Fact]
    public void Verdict_AnswersThatNobodyGot_Fails() =>
        AssertFault("answered 10 times", s_client with { Answers = 9 }, ServerThatApplied(All()));

    [Fact]
    public void Verdict_ClientThatForgot_Fails() =>
        AssertFault("the client knows of", s_client with { Wanted = 1, Made = 1 }, ServerThatApplied(All()));

    [Fact]
    public void Reports_PrintedAndRead_AreTheSame()
    {
        ServerReport server = ServerThatApplied(All());

        Assert.Equal(server, ServerReport.TryParse(server.ToString()));
        Assert.Equal(s_client, ClientReport.TryParse(s_client.ToString()));
        Assert.Null(ServerReport.TryParse(s_client.ToString()));
        Assert.Null(ClientReport.TryParse("client a b c"));
    }

    private static IEnumerable<long> All() => Enumerable.Range(1, (int)Calls).Select(static n => (long)n);

    private static ServerReport ServerThatApplied(IEnumerable<long> numbers)
    {
        long[] all = [.. numbers];
        return new ServerReport("q", all.Length, all.Aggregate(0UL, OrderHash.Add), 10);
    }

    private static void AssertFault(string part, ClientReport client, ServerReport server) =>
        Assert.Contains(Verdict.Of(client, server, Calls).Faults, fault => fault.Contains(part, StringComparison.Ordinal));
}
