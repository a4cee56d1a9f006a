using System.Buffers;
using Ambrosia.Protocol.Runs;

namespace Ambrosia.Protocol.Tests;

/// <summary>What this implementation reports by itself is byte for byte what the document lists (protocol P4.6).</summary>
public sealed class ListedFailuresTests
{
    private static readonly FailureInfo[] s_all =
    [
        ListedFailures.NoMethod(999), ListedFailures.BadArguments(999), ListedFailures.ResultNotEncoded(999),
        ListedFailures.ResultNotDecoded(999), ListedFailures.TaskResultNotDecoded(12), ListedFailures.BadFailure(),
        ListedFailures.UnknownCase("Shop.IPayment", 7),
        ListedFailures.TooLong(67_108_864), ListedFailures.Timeout(), ListedFailures.Cancelled(),
        ListedFailures.CallFailed(new FailureInfo("Shop.Closed", "no")),
        ListedFailures.PeerForgotten("bank3", Guid.Parse("00112233-4455-6677-8899-aabbccddeeff")), ListedFailures.KeyReused(),
        ListedFailures.TaskGivenUp(12),
        ListedFailures.NotSupported("queries"), ListedFailures.NotInQuery("waits"), ListedFailures.QueryChangedState(999),
        ListedFailures.AppEnded(2), ListedFailures.Misuse("a call"), ListedFailures.LimitReached(1_048_576, "timers"),
        ListedFailures.FlowTooLong(), ListedFailures.Failed(),
    ];

    [Fact]
    public void Failures_OfTheList_AreTheVectors()
    {
        string[] listed = [.. VectorFiles.All.Where(static v => v.Section == "P4.6").Select(static v => Convert.ToHexString(v.Bytes))];
        Assert.Equal(listed.Order(StringComparer.Ordinal), s_all.Select(Encoded).Order(StringComparer.Ordinal));
    }

    [Fact]
    public void Names_All_AreInTheVectors()
    {
        IEnumerable<string> names = typeof(FailureNames).GetFields().Select(static field => (string)field.GetRawConstantValue()!);
        IEnumerable<string> inVectors = VectorFiles.All.Where(static v => v.Section == "P4.6")
            .Select(static v => (string)v.Expect!["chain"]!.AsArray()[0]!["type"]!).Distinct();
        Assert.Equal(names.Order(StringComparer.Ordinal), inVectors.Order(StringComparer.Ordinal));
    }

    /// <summary>The two exceptions of the framework that handlers catch are known by type and text, and no other is.</summary>
    [Fact]
    public void Of_ExceptionsOfWaiting_AreListedByTheirText()
    {
        Assert.Equal(FailureNames.Timeout, FailureInfo.Of(new TimeoutException(ListedFailures.TimeoutText)).TypeName);
        Assert.Equal(FailureNames.Cancelled, FailureInfo.Of(new OperationCanceledException(ListedFailures.CancelledText)).TypeName);
        Assert.Equal("System.TimeoutException", FailureInfo.Of(new TimeoutException("the app's")).TypeName);
        Assert.Equal("System.OperationCanceledException", FailureInfo.Of(new OperationCanceledException("the app's")).TypeName);
    }

    [Fact]
    public void Of_ListedFailureInside_CutsItsCauses()
    {
        FailureInfo info = FailureInfo.Of(new InvalidOperationException("outer", new Listed(new FormatException("the runtime's words"))));
        Assert.Equal(new FailureInfo("System.InvalidOperationException", "outer", ListedFailures.BadFailure()), info);
    }

    [Fact]
    public void Text_OfAnExceptionInTheRuntimesWords_IsTheVectors()
    {
        const string Name = "System.FormatException";
        var failure = new FailureInfo("Shop.Closed", "no", new FailureInfo(Name, ListedFailures.NoText(Name)));
        Assert.Equal(Convert.ToHexString(VectorFiles.All.Single(static v => v.Section == "P4.7").Bytes), Encoded(failure));
    }

    [Fact]
    public void Of_ExceptionWhoseTextThrows_HasItsNameAlone()
    {
        string name = typeof(Mute).FullName!;
        Assert.Equal(new FailureInfo(name, $"{name} was thrown."), FailureInfo.Of(new Mute()));
    }

    /// <summary>The full name of such a type says in which version of which assembly its argument is.</summary>
    [Fact]
    public void NameOf_AGenericType_SaysNoVersion()
    {
        Assert.Equal("System.Collections.Generic.List`1[System.Int32]", FailureInfo.NameOf(typeof(List<int>)));
        Assert.Equal(typeof(Mute).FullName, FailureInfo.NameOf(typeof(Mute)));
    }

    private sealed class Mute : Exception
    {
        public override string Message => throw new InvalidOperationException("it says nothing");
    }

    private static string Encoded(FailureInfo failure)
    {
        var bytes = new ArrayBufferWriter<byte>();
        var writer = new CborWriter(bytes);
        failure.Write(ref writer);
        writer.Flush();
        return Convert.ToHexString(bytes.WrittenSpan);
    }

    private sealed class Listed(Exception why) : Exception("words of its own", why), IListedFailure
    {
        FailureInfo IListedFailure.Failure => ListedFailures.BadFailure();
    }
}
