using System.Collections.Immutable;
using System.Text;
using Ambrosia.Protocol;
using static Ambrosia.Binding.Tests.Images.GraphBytes;

namespace Ambrosia.Binding.Tests;

/// <summary>What configures an object of the framework beside its content comes back, or is refused by name.</summary>
public sealed class FrameworkStateTests
{
    [Fact]
    public void ImmutableMaps_KeepTheComparerOfTheirValues()
    {
        ImmutableDictionary<string, string> hashed = ImmutableDictionary.Create<string, string>(
            StringComparer.OrdinalIgnoreCase, StringComparer.OrdinalIgnoreCase).Add("Key", "Value");
        ImmutableSortedDictionary<string, string> sorted = ImmutableSortedDictionary.Create<string, string>(
            StringComparer.Ordinal, StringComparer.OrdinalIgnoreCase).Add("Key", "Value");
        object[] read = Again(hashed, sorted, hashed.Clear(), ImmutableDictionary<string, string>.Empty);

        var back = (ImmutableDictionary<string, string>)read[0];
        Assert.True(back.ContainsValue("vALUE"));
        Assert.Same(back, back.SetItem("KEY", "VALUE"));
        var backSorted = (ImmutableSortedDictionary<string, string>)read[1];
        Assert.Same(backSorted, backSorted.Add("Key", "VALUE"));
        Assert.Same(StringComparer.OrdinalIgnoreCase, ((ImmutableDictionary<string, string>)read[2]).ValueComparer);
        Assert.Same(EqualityComparer<string>.Default, ((ImmutableDictionary<string, string>)read[3]).ValueComparer);
    }

    [Fact]
    public void ImmutableMap_WithAnotherComparerOfValues_IsRefusedByName()
    {
        NotWritableException refused = Assert.Throws<NotWritableException>(() => Written(new object[]
        {
            ImmutableDictionary.Create<string, string>(null, StringComparer.InvariantCulture).Add("a", "b"),
        }));
        Assert.Contains("with a comparer of type System.CultureAwareComparer cannot be written", refused.Message, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("/var/data/x.bin", UriKind.Absolute)]
    [InlineData("//server/share/x.bin", UriKind.Absolute)]
    [InlineData("c:/x", UriKind.Relative)]
    [InlineData("c:/x", UriKind.Absolute)]
    [InlineData("/orders/5?x=1", UriKind.Relative)]
    [InlineData("?x=1", UriKind.Relative)]
    [InlineData("", UriKind.Relative)]
    [InlineData("http://a/b?c#d", UriKind.Absolute)]
    public void Uri_ComesBackAbsoluteOrRelativeAsItWas(string text, UriKind kind)
    {
        var value = new Uri(text, kind);
        var back = (Uri)Again(value)[0];
        Assert.Equal((value, value.IsAbsoluteUri, value.OriginalString), (back, back.IsAbsoluteUri, back.OriginalString));
        var beside = new Uri("http://shop.example/a/");
        Assert.Equal(new Uri(beside, value), new Uri(beside, back));
    }

    [Fact]
    public void Uri_ThatIsKeptAsItStands_StaysSo()
    {
        var value = new Uri("http://a/b/%2e%2E/c", new UriCreationOptions { DangerousDisablePathAndQueryCanonicalization = true });
        var back = (Uri)Again(value)[0];
        Assert.Equal((value.AbsoluteUri, value.PathAndQuery), (back.AbsoluteUri, back.PathAndQuery));
        Assert.NotEqual(value.AbsoluteUri, new Uri(value.OriginalString).AbsoluteUri);
    }

    [Fact]
    public void StringBuilder_KeepsTheMostThatItHolds()
    {
        object[] read = Again(new StringBuilder(4, 8).Append("abc"), new StringBuilder("\ud800x"), new StringBuilder("\ud800"));
        var back = (StringBuilder)read[0];
        Assert.Equal(("abc", 8), (back.ToString(), back.MaxCapacity));
        Assert.Throws<ArgumentOutOfRangeException>(() => back.Append("123456"));
        Assert.Equal(("\ud800x", int.MaxValue), (read[1].ToString(), ((StringBuilder)read[1]).MaxCapacity));
        Assert.Equal("\ud800", read[2].ToString());
    }

    [Fact]
    public void AggregateException_WhoseInnerOnesWereLookedAt_IsWritten()
    {
        var looked = new AggregateException(new FormatException("a"), new ArgumentException("b"));
        byte[] before = Written(new object[] { looked });
        Assert.Equal(2, looked.InnerExceptions.Count);
        Assert.Equal(before, Written(new object[] { looked }));
        Assert.Equal(["a", "b"], ((AggregateException)Again(looked)[0]).InnerExceptions.Select(static each => each.Message));
    }

    [Fact]
    public void Serializer_ThatWritesNull_IsRefusedWhereNullIsNoValue()
    {
        Assert.Equal(default(Route), ((Route[])Again(new object[] { new Route[1] })[0])[0]);
        NotWritableException refused = Assert.Throws<NotWritableException>(() => Written(new object[] { new Route?[] { new Route("") } }));
        Assert.Contains("wrote null, which says that there is no value", refused.Message, StringComparison.Ordinal);
    }

    /// <summary>The compiler keeps in an iterator the thread that made it, by which it is enumerated itself, or a copy of it.</summary>
    [Fact]
    public void Iterator_OnAnotherThread_GivesTheSameBytes()
    {
        byte[] here = Written(new object[] { Numbers(3) });
        byte[] there = [];
        var other = new Thread(() => there = Written(new object[] { Numbers(3) }));
        other.Start();
        other.Join();
        Assert.Equal(here, there);

        var back = (IEnumerable<int>)((object[])Read(there))[0];
        using IEnumerator<int> first = back.GetEnumerator();
        Assert.Same(back, first); // as it would have been on the thread that made it
        Assert.True(first.MoveNext());
        Assert.Equal([1, 2, 3], back);
    }

    private static IEnumerable<int> Numbers(int count)
    {
        for (int i = 1; i <= count; i++) yield return i;
    }

    private static object[] Again(params object[] values) => (object[])Read(Written(values));
}

[StateSerializer(typeof(RouteSerializer))]
public readonly record struct Route(string? Way);

public sealed class RouteSerializer : IStateSerializer<Route>
{
    public void Write(ref CborWriter to, Route value)
    {
        if (string.IsNullOrEmpty(value.Way)) to.WriteNull();
        else to.WriteString(value.Way);
    }

    public Route Read(ref CborReader from) => new(from.TryReadNull() ? null : from.ReadString());
}
