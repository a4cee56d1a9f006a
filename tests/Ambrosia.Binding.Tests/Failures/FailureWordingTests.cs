using System.Reflection;
using System.Text.Json;
using System.Xml;
using Ambrosia.Failures;
using Ambrosia.Protocol.Runs;

namespace Ambrosia.Binding.Tests;

/// <summary>
/// Tells the words of the framework from those of the app, over what the framework really throws and what apps write (protocol P4.7).
/// </summary>
public sealed class FailureWordingTests
{
    public static TheoryData<string> Thrown => [.. FrameworkExceptions.All.Keys];

    public static TheoryData<string, Exception> OfApps => new()
    {
        { "refusal", new InvalidOperationException("not enough money") },
        { "sentence", new InvalidOperationException("The account of bob has not enough money.") },
        { "one word", new InvalidOperationException("closed") },
        { "two words", new InvalidOperationException("Queue is empty") },
        { "nothing", new InvalidOperationException("") },
        { "a name of the framework's texts", new InvalidOperationException("NoElements") },
        { "a key of the framework's texts", new InvalidOperationException("Arg_KeyNotFoundWithKey, bob") },
        { "a code", new InvalidOperationException("out_of_stock, 17") },
        { "like a missing key", new KeyNotFoundException("The given account 'bob' was not present in the dictionary.") },
        { "around a missing key", new KeyNotFoundException("Sorry: The given key 'bob' was not present in the dictionary. Try again.") },
        { "like a short template", new InvalidOperationException("Order 17 is not valid.") },
        { "like a template of the web", new InvalidOperationException("User bob does not exist.") },
        { "like an empty sequence", new InvalidOperationException("Sequence contains no elements of bob") },
        { "parameter", new ArgumentException("too much", "cents") },
        { "parameter in the middle", new ArgumentException("too much (Parameter 'cents') for bob", "cents") },
        { "range", new ArgumentOutOfRangeException("cents", 5, "too much for bob") },
        { "range without value", new ArgumentOutOfRangeException("cents", "too much for bob") },
        { "disposed", new ObjectDisposedException("account", "closed for good") },
        { "lines", new InvalidOperationException("first line\nsecond line") },
        { "a line of the framework", new InvalidOperationException("The operation was canceled.\nby bob") },
        { "file", new IOException("No such file or directory : '/x'") },
        { "cast", new InvalidCastException("a horse is no car") },
        { "index", new IndexOutOfRangeException("no such seat") },
        { "JSON", new JsonException("no such shop", "$.shop", 1, 2) },
        { "XML", new XmlException("no such shop") },
        { "several", new AggregateException("two refusals", new InvalidOperationException("one"), new Refused("two")) },
        { "own type", new Refused("no") },
        { "inner", new Refused("no", new FormatException("what is that?")) },
        { "braces", new FormatException("{0} and {") },
    };

    [Theory]
    [MemberData(nameof(Thrown))]
    public void Exception_OfTheFramework_TravelsWithoutItsWords(string name)
    {
        Exception thrown = FrameworkExceptions.Caught(name);
        FailureInfo sent = FailureWording.Describe(thrown);
        Assert.All(Chain(sent), static each => Assert.StartsWith($"{each.TypeName} was thrown.", each.Message, StringComparison.Ordinal));
        Assert.Contains(thrown.Message, FailureCodec.StackOf(thrown, sent), StringComparison.Ordinal);
        Assert.True(FailureCodec.IsReworded(thrown, sent));
    }

    [Theory]
    [MemberData(nameof(OfApps))]
    public void Exception_OfTheApp_TravelsAsItIs(string name, Exception thrown)
    {
        Assert.NotEmpty(name);
        FailureInfo sent = FailureWording.Describe(thrown);
        Assert.Equal((thrown.GetType().FullName, thrown.Message), (sent.TypeName, sent.Message));
        Assert.Equal(thrown.InnerException?.Message, sent.Inner?.Message);
        Assert.False(FailureCodec.IsReworded(thrown, sent));
    }

    /// <summary>An exception that was given no text has one of the framework's, whosever type it is.</summary>
    [Fact]
    public void Exception_OfTheAppWithoutText_TravelsByItsName()
    {
        Assert.Equal(Named("Ambrosia.Binding.Tests.FailureWordingTests+Tired"), FailureWording.Describe(new Tired()));
        Assert.Equal(Named("Ambrosia.Binding.Tests.FailureWordingTests+Unknown"), FailureWording.Describe(new Unknown()));
    }

    [Fact]
    public void Exception_WhoseTextThrows_TravelsByItsName() =>
        Assert.Equal(Named("Ambrosia.Binding.Tests.FailureWordingTests+Broken"), FailureWording.Describe(new Broken()));

    [Fact]
    public void Exception_AroundTheApps_KeepsTheAppsText()
    {
        var invocation = new TargetInvocationException(new InvalidOperationException("not enough"));
        var cause = new FailureInfo("System.InvalidOperationException", "not enough");
        Assert.Equal(Named("System.Reflection.TargetInvocationException") with { Inner = cause }, FailureWording.Describe(invocation));
        var several = new AggregateException(new InvalidOperationException("not enough"), new KeyNotFoundException());
        Assert.Equal("System.AggregateException was thrown. (not enough) (System.Collections.Generic.KeyNotFoundException was thrown.)",
            FailureWording.Describe(several).Message);
    }

    /// <summary>Nobody outside of the framework knows which types it has for itself.</summary>
    [Fact]
    public void Exception_OfATypeThatIsNotPublic_TravelsByItsPublicBase() =>
        Assert.Equal(Named("System.Text.Json.JsonException"), FailureWording.Describe(FrameworkExceptions.Caught("JSON that ends early")));

    /// <summary>The full name of such a type says in which version of which assembly its argument is.</summary>
    [Fact]
    public void Exception_OfAGenericType_IsNamedWithoutVersions() =>
        Assert.Equal("Ambrosia.Binding.Tests.FailureWordingTests+Refused`1[System.Int32]",
            FailureWording.Describe(new Refused<int>("no")).TypeName);

    private static FailureInfo Named(string type) => new(type, $"{type} was thrown.");

    private static IEnumerable<FailureInfo> Chain(FailureInfo failure)
    {
        for (FailureInfo? each = failure; each is not null; each = each.Inner) yield return each;
    }

    private sealed class Refused(string why, Exception? cause = null) : Exception(why, cause);

    private sealed class Refused<T>(string why) : Exception(why)
    {
        public T? What { get; init; }
    }

    private sealed class Tired : Exception;

    private sealed class Unknown : KeyNotFoundException;

    private sealed class Broken : Exception
    {
        public override string Message => throw new InvalidOperationException("no text");
    }
}
