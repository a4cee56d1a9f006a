using System.Text;
using Ambrosia.Failures;
using Ambrosia.Protocol.Runs;
using static Ambrosia.Binding.Tests.FakeCoordinator;

namespace Ambrosia.Binding.Tests;

/// <summary>
/// What the binding says where a handler misuses it is worded for developers, and may be worded better some day. So it travels by the list
/// alone (protocol P4.6), and no image holds the words.
/// </summary>
public sealed class MisuseTests
{
    /// <summary>The mark's bound lies at the mark itself, so the image is taken while handlers are suspended.</summary>
    private const ulong AtOnce = 1;

    private static readonly string[] s_listed =
    [
        "a call", "a name", "a proxy", "a key", "a value", "an immortal", "an impulse", "a checkpoint", "a timer", "a task",
        "time, randomness, a timer or a task",
    ];

    public static TheoryData<string, string, string> OfHandlers => new()
    {
        { "call", "a call", "asked for before it was there" },
        { "no call", "a call", "at least one call" },
        { "same call", "a call", "awaited twice" },
        { "name", "a name", "'no name' is not an instance name" },
        { "immortal", "an immortal", "makes an immortal by new" },
        { "key", "a key", "A key of 0 bytes" },
        { "impulse", "an impulse", "outside the handlers" },
        { "timer", "a timer", "is not a method of the immortal" },
        { "task", "a task", "Attempts is 0" },
        { "backoff", "a task", "from zero, and not falling" },
        { "deadline", "a task", "Deadline is -00:00:01" },
    };

    [Theory]
    [MemberData(nameof(OfHandlers))]
    public void Misuse_InAHandler_FailsByTheListAndSaysWhatInTheStack(string what, string listed, string words)
    {
        FakeCoordinator clumsy = Started<Clumsy>();
        clumsy.Deliver(Call(1, 7, what));

        Assert.Contains($"failure bank2 1 #7 ['Ambrosia.Misuse' 'The binding does not allow this use of {listed}.' null]", clumsy.Said);
        Assert.Contains(words, Encoding.UTF8.GetString(clumsy.Extensions), StringComparison.Ordinal);
    }

    /// <summary>An exception that is alive over an await is state. Behind a restore it says the same and travels alike.</summary>
    [Theory]
    [MemberData(nameof(OfHandlers))]
    public void Misuse_KeptOverARestore_IsInNoImageByItsWords(string what, string listed, string words)
    {
        FakeCoordinator clumsy = Started<Clumsy>();
        clumsy.Deliver(Call(2, 7, what), Mark(bound: AtOnce));
        Assert.True(clumsy.Image.AsSpan().IndexOf(Encoding.UTF8.GetBytes(words)) < 0, "the image holds our words");
        Assert.Contains(clumsy.Said, said => said.Contains(words, StringComparison.Ordinal)); // the handler reads and sends them: the app's

        var restored = new FakeCoordinator(ImmortalDefinition.Of<Clumsy>());
        restored.Welcome(clumsy.Image, clumsy.Next.Value);
        ulong call = what is "call" or "same call" ? 2u : 1u;
        restored.Deliver(Result(2, call, 1, 5));
        Assert.Contains($"failure bank2 2 #7 ['Ambrosia.Misuse' 'The binding does not allow this use of {listed}.' null]", restored.Said);
    }

    [Theory]
    [MemberData(nameof(All))]
    public void Misuse_OfEachKind_HasANameOfTheListAndWords(Exception thrown)
    {
        FailureInfo sent = FailureWording.Describe(thrown);

        Assert.Contains(sent, (FailureInfo[])
            [.. s_listed.Select(ListedFailures.Misuse), ListedFailures.LimitReached(12, "timers"), ListedFailures.TooLong(9)]);
        Assert.NotEmpty(thrown.Message);
        Assert.DoesNotContain(thrown.GetType().Name, thrown.Message, StringComparison.Ordinal);
        Assert.Contains(thrown.Message, FailureCodec.StackOf(thrown, sent), StringComparison.Ordinal);
    }

    public static TheoryData<Exception> All =>
    [
        .. Enum.GetValues<Misuse>().Select(static misuse => new BindingMisuseException(misuse)),
        .. Enum.GetValues<Misuse>().Select(static misuse => new MisusedArgumentException(misuse, "bob")),
        new LimitReachedException(12, "timers"), new OverLimitException(10, 9), new NotWritableException("Shop.Till cannot be written"),
        UnencodableException.OfDerived("text", "Shop.Order"), UnencodableException.OfNoCase("text", "Shop.IPayment"),
    ];
}
