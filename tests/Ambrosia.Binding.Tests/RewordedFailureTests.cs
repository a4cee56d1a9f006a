using System.Buffers;
using System.Text;
using Ambrosia.Failures;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Hashing;
using Ambrosia.Protocol.Runs;
using static Ambrosia.Binding.Tests.FakeCoordinator;

namespace Ambrosia.Binding.Tests;

/// <summary>
/// Failures are under channel hashes and in images. So no word of the runtime may be in those that the binding reports: a runtime that
/// words its exceptions otherwise would diverge from the log (protocol P4.6).
/// </summary>
public sealed class RewordedFailureTests
{
    public static TheoryData<string, Func<string, Exception>> Runtimes => new()
    {
        { "overflow", static words => new OverflowException(words) },
        { "invalid data", static words => new InvalidDataException(words) },
        { "argument", static words => new ArgumentException(words, "value") },
        { "range", static words => new ArgumentOutOfRangeException("ticks", 5, words) },
        { "null", static words => new NullReferenceException(words) },
        { "index", static words => new IndexOutOfRangeException(words) },
        { "cast", static words => new InvalidCastException(words, new FormatException(words)) },
        { "key", static words => new KeyNotFoundException(words) },
        { "cbor", static words => new CborException(CborError.Truncated, 3, words) },
    };

    [Theory]
    [MemberData(nameof(Runtimes))]
    public void Words_OfWhatCannotBeDecodedOrEncoded_ChangeNoByte(string name, Func<string, Exception> thrown)
    {
        Assert.NotEmpty(name);
        Assert.Equal(Hash(new BadArgumentsException(7, thrown("one"))), Hash(new BadArgumentsException(7, thrown("another wording"))));
        Assert.Equal(Hash(BadResultException.Of(thrown("one"), 7)), Hash(BadResultException.Of(thrown("another wording"), 7)));
        var failure = new BadArgumentsException(7, thrown("another wording"));
        Assert.Contains("another wording", FailureCodec.StackOf(failure, FailureWording.Describe(failure)), StringComparison.Ordinal);
    }

    /// <summary>The negative control: an exception that nobody has listed carries its words.</summary>
    [Fact]
    public void Words_OfTheApp_ChangeBytes() =>
        Assert.NotEqual(Hash(new InvalidOperationException("one")), Hash(new InvalidOperationException("another")));

    /// <summary>A number where a text belongs, bytes that end early, a float and a number too large for one: all fail alike.</summary>
    [Theory]
    [InlineData("00")]
    [InlineData("616161")]
    [InlineData("6161fb7ff8000000000000")]
    [InlineData("61611bffffffffffffffff")]
    public void Arguments_ThatCannotBeDecoded_FailByTheListAndSayWhyInTheStack(string arguments)
    {
        FakeCoordinator called = Started<Bank>();
        called.Deliver(RunWith([], MessageKind.Call, 1, (1, 7, Convert.FromHexString(arguments))));

        Assert.Contains("failure bank2 1 #7 ['Ambrosia.BadArguments' 'The arguments of method 0x1 cannot be decoded.' null]", called.Said);
        Assert.Contains("CborException", Encoding.UTF8.GetString(called.Extensions), StringComparison.Ordinal);
    }

    [Fact]
    public void Handler_ThatFailsBehindItsArguments_SpeaksForItself()
    {
        FakeCoordinator called = Started<Bank>();
        called.Deliver(Call(1, 7, 5), Call(6, 8, "mine"));

        Assert.Contains("failure bank2 6 #8 ['System.InvalidOperationException' 'mine' ['System.ArgumentException' 'inner' null]]",
            called.Said);
    }

    private static ulong Hash(Exception failure)
    {
        var bytes = new ArrayBufferWriter<byte>();
        FailureCodec.Write(bytes, failure);
        return ChannelHash.Append(0, bytes.WrittenSpan);
    }
}
