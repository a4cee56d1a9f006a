using System.Collections;
using Ambrosia.Messages;
using static Ambrosia.Binding.Tests.FakeCoordinator;

namespace Ambrosia.Binding.Tests;

[Data]
public sealed record Postcard(string What, int Pieces = 1)
{
    public string? Note { get; init; }
}

public interface IOldPost
{
    [MethodId(1)]
    int Order(string what);
}

public interface INewPost
{
    [MethodId(1)]
    int Order(string what, int pieces = 1, string? note = null);

    [MethodId(2)]
    int Send(Postcard card, IReadOnlyCollection<string>? marks = null);

    [MethodId(3)]
    int Weigh(int grams, string? seal = null, long? price = 5);
}

public sealed partial class OldPost : Immortal<IOldPost>, IOldPost
{
    private int _orders;

    public int Order(string what) => ++_orders;

    internal byte[] Read(params object?[] arguments) => RepeatedRequestTests.Read(WriteArguments, 1, arguments);
}

public sealed partial class NewPost : Immortal<INewPost>, INewPost
{
    private int _orders;

    public int Order(string what, int pieces, string? note) => ++_orders;

    public int Send(Postcard card, IReadOnlyCollection<string>? marks) => ++_orders;

    public int Weigh(int grams, string? seal, long? price) => ++_orders;

    internal byte[] Read(uint method, params object?[] arguments) => RepeatedRequestTests.Read(WriteArguments, method, arguments);
}

/// <summary>
/// A request that is repeated with its key from another build, one with an optional parameter or a field more, is the same request; one
/// that says something else is not.
/// </summary>
public sealed class RepeatedRequestTests
{
    internal delegate bool Writer(uint method, ReadOnlySpan<byte> arguments, OutgoingMessage to);

    private static readonly Hashtable s_short = new() { ["What"] = "tea" },
        s_long = new() { ["Note"] = null, ["What"] = "tea", ["Pieces"] = 1 },
        s_unknown = new() { ["Note"] = null, ["What"] = "tea", ["Pieces"] = 1, ["Colour"] = "red" },
        s_other = new() { ["Note"] = "now", ["What"] = "tea", ["Pieces"] = 1 };

    /// <summary>What is said in several ways, and what is something else, by method.</summary>
    public static TheoryData<int> Cases => [.. Enumerable.Range(0, s_cases.Length)];

    private static readonly (uint Method, object?[][] Same, object?[] Other)[] s_cases =
    [
        (1, [["tea"], ["tea", 1], ["tea", 1, null], ["tea", 1, null, "unknown"]], ["tea", 2]),
        (1, [["tea", 2], ["tea", 2, null]], ["tea", 2, "now"]),
        (2, [[s_short], [s_long], [s_unknown], [s_long, null]], [s_other]),
        (2, [[s_short, new[] { "a" }], [s_long, new[] { "a" }]], [s_long, Array.Empty<string>()]),
        (3, [[0], [], [0, null], [0, null, 5]], [0, null, null]),
    ];

    [Theory]
    [MemberData(nameof(Cases))]
    public void Key_OfAnotherBuild_IsTheSameRequest(int number)
    {
        (uint method, object?[][] same, object?[] other) = s_cases[number];
        foreach (object?[] first in same)
        {
            FakeCoordinator post = Started<NewPost>();
            post.Deliver(Request(1, "k", method, first));
            post.Deliver(Mark(bound: 1));
            var restored = new FakeCoordinator(ImmortalDefinition.Of<NewPost>());
            restored.Welcome(post.Image, post.Next.Value);
            foreach (FakeCoordinator each in (FakeCoordinator[])[post, restored])
            {
                each.Said.Clear();
                ulong request = 2;
                foreach (object?[] again in same) each.Deliver(Request(request++, "k", method, again));
                Assert.Equal(same.Select((_, i) => $"clientanswer caller 3.1 {method} #{i + 2} 1"), Answers(each));
                each.Said.Clear();
                each.Deliver(Request(request, "k", method, other));
                Assert.Contains("'Ambrosia.KeyReused'", Assert.Single(Answers(each)), StringComparison.Ordinal);
            }
        }
    }

    [Fact]
    public void Key_OfANewerBuild_IsTheSameRequestForAnOlderCallee()
    {
        FakeCoordinator post = Started<OldPost>();
        post.Deliver(Request(1, "k", 1, "tea", 1, null), Request(2, "k", 1, "tea"), Request(3, "k", 1, "coffee"));
        string[] answers = Answers(post);
        Assert.Equal(["clientanswer caller 3.1 1 #1 1", "clientanswer caller 3.1 1 #2 1"], answers[..2]);
        Assert.StartsWith("clientfailure caller 3.1 1 #3", answers[2], StringComparison.Ordinal);
    }

    /// <summary>What an older callee kept is what the newer one finds, so that the callee may be redeployed between the attempts.</summary>
    [Fact]
    public void Arguments_AsTwoBuildsReadThem_AreTheSameBytes()
    {
        Assert.Equal(new OldPost().Read("tea"), new NewPost().Read(1, "tea", 1, null));
        Assert.Equal(new OldPost().Read("tea", 1), new NewPost().Read(1, "tea"));
        Assert.NotEqual(new OldPost().Read("tea"), new NewPost().Read(1, "tea", 2));
    }

    internal static byte[] Read(Writer write, uint method, object?[] arguments)
    {
        ScratchBuffer read = ScratchBuffer.Begin();
        Assert.True(write(method, Cbor.Of(arguments), new OutgoingMessage(read)));
        return read.Written.ToArray();
    }

    private static string[] Answers(FakeCoordinator from) =>
        [.. from.Said.Where(static line => line.StartsWith("client", StringComparison.Ordinal))];
}
