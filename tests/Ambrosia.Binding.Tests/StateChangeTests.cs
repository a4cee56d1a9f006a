using System.Buffers;
using System.Text;
using Ambrosia.Protocol;
using static Ambrosia.Binding.Tests.Images.GraphBytes;

namespace Ambrosia.Binding.Tests;

/// <summary>
/// Each change that a user makes to the fields of a class between two builds: the image is that of the build before, written by hand. A
/// value goes to the field that it is of, or the image is refused; it never turns up in another one.
/// </summary>
public sealed class StateChangeTests
{
    [Theory]
    [InlineData(typeof(Now.Renamed), "_was=1 _kept=2", "_kept=2 _now=1")]
    [InlineData(typeof(Now.Renamed), "_kept=2 _now=1", "_kept=2 _now=1")]
    [InlineData(typeof(Now.Taken), "_a=1", "_a=0 _b=1")] // renamed, and another has the name now
    [InlineData(typeof(Now.Taken), "_b=1 _a=2 _c=3", "_a=2 _b=1")] // written behind the renaming
    [InlineData(typeof(Now.Shifted), "_a=1 _b=2", "_b=1 _c=2")]
    [InlineData(typeof(Now.Shifted), "_b=1 _c=2 _d=3", "_b=1 _c=2")]
    [InlineData(typeof(Now.Exchanged), "_first=1 _second=2", "_first=2 _second=1")]
    [InlineData(typeof(Now.Exchanged), "_second=2 _first=1 _gone=3", "_first=2 _second=1")]
    [InlineData(typeof(Now.Exchanged), "_first (was _second)=1|_second (was _first)=2|_gone=3", "_first=1 _second=2")]
    [InlineData(typeof(Now.BehindExchange), "_first (was _second)=1|_second (was _first)=2", "_first=1 _second=2 _third=0")]
    [InlineData(typeof(Now.Round), "_a=1 _b=2 _c=3", "_a=3 _b=1 _c=2")]
    [InlineData(typeof(Now.Property), "Total=5", "<Total>k__BackingField=5")]
    [InlineData(typeof(Now.Field), "<Total>k__BackingField=5", "Total=5")]
    [InlineData(typeof(Now.Moved), "_id=7 _own=1", "_id=7 _own=1")] // to a base class
    [InlineData(typeof(Now.Own), "_version=3", "_version=3")]
    [InlineData(typeof(Now.Own), "Entity._version=2 _version=3", "_version=3")] // the base class lost its own
    [InlineData(typeof(Now.OfBase), "Entity._version=2 _version=3", "_version=2")] // the class lost its own
    [InlineData(typeof(Now.Order), "Entity._version=1 Entity._version=2 _version=3", "_version=1 _version=2 _version=3 _added=0")]
    [InlineData(typeof(Now.Order), "Ambrosia.Binding.Tests.Now+Core+Entity._version=1 Ambrosia.Binding.Tests.Now+Shop+Entity._version=2 _version=3",
        "_version=1 _version=2 _version=3 _added=0")]
    public void Fields_OfAnotherBuild_AreThoseThatTheyWere(Type type, string stored, string expected)
    {
        foreach (bool isReflective in new[] { false, true })
            Assert.Equal(expected, Shown(Read(Image(type, stored), isReflective)));
    }

    [Theory]
    [InlineData(typeof(Now.Both), "_version=3", "_version may be one of several fields now")]
    [InlineData(typeof(Now.Order), "Entity._version=1 _version=3", "Entity._version may be one of several fields now")]
    [InlineData(typeof(Now.Own), "Entity._version=1 Entity._version=2 _version=3", "Entity._version stands there 2 times, and this build has 0")]
    [InlineData(typeof(Now.Claimed), "_was=1", "_was is a former name of several fields")]
    [InlineData(typeof(Now.Renamed), "_was=1 _now=2 _kept=3", "_was is a former name of a field whose name of now stands there, too")]
    public void Fields_ThatMayBeSeveral_AreRefused(Type type, string stored, string why)
    {
        InvalidDataException refused = Assert.Throws<InvalidDataException>(() => Read(Image(type, stored)));
        Assert.Contains($" cannot be restored: The image holds a {type} whose field {why}", refused.Message, StringComparison.Ordinal);
        Assert.Contains("[FormerlyNamed(", refused.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void Fields_OfBaseClassesOfOneSimpleName_StandUnderDifferentNames()
    {
        byte[] image = Written(new Now.Order());
        string text = Encoding.UTF8.GetString(image);
        Assert.Contains("Ambrosia.Binding.Tests.Now+Core+Entity._version", text, StringComparison.Ordinal);
        Assert.Contains("Ambrosia.Binding.Tests.Now+Shop+Entity._version", text, StringComparison.Ordinal);
        Assert.Equal(Shown(new Now.Order()), Shown(Read(image)));
    }

    [Fact]
    public void Fields_ThatWereExchanged_AreNotExchangedAgain()
    {
        object read = Read(Image(typeof(Now.Exchanged), "_first=1 _second=2"));
        for (int i = 0; i < 3; i++) read = Read(Written(read));
        Assert.Equal("_first=2 _second=1", Shown(read));
    }

    private static string Shown(object read) => string.Join(' ',
        Ambrosia.State.StateFields.Of(read.GetType()).Select(field => $"{field.Name}={field.GetValue(read)}"));

    /// <summary>Writes an image of one object with fields that are numbers.</summary>
    private static byte[] Image(Type type, string fields)
    {
        string[][] all = [.. fields.Split(fields.Contains('|') ? '|' : ' ').Select(static each => each.Split('='))];
        var bytes = new ArrayBufferWriter<byte>();
        var to = new CborWriter(bytes);
        to.WriteArrayHeader(1);
        to.WriteArrayHeader(3);
        to.WriteString($"{type.FullName}, {type.Assembly.GetName().Name}");
        to.WriteUInt64(0);
        to.WriteArrayHeader(2 * all.Length);
        foreach (string[] field in all)
        {
            to.WriteString(field[0]);
            to.WriteString("i4");
        }
        to.WriteArrayHeader(2);
        to.WriteUInt64(0);
        to.WriteArrayHeader(all.Length);
        foreach (string[] field in all) to.WriteInt64(int.Parse(field[1], null));
        to.Flush();
        return bytes.WrittenSpan.ToArray();
    }
}

#pragma warning disable CS0414, IDE0051, IDE0044, CA1823, CS0169 // the fields are state
/// <summary>The classes of the build of now.</summary>
public static class Now
{
    public class Renamed
    {
        private int _kept;
        [FormerlyNamed("_was")] private int _now;
    }

    public class Taken
    {
        private int _a;
        [FormerlyNamed("_a")] private int _b;
    }

    public class Shifted
    {
        [FormerlyNamed("_a")] private int _b;
        [FormerlyNamed("_b")] private int _c;
    }

    public class Exchanged
    {
        [FormerlyNamed("_second")] private int _first;
        [FormerlyNamed("_first")] private int _second;
    }

    public class BehindExchange
    {
        private int _first, _second, _third;
    }

    public class Round
    {
        [FormerlyNamed("_c")] private int _a;
        [FormerlyNamed("_a")] private int _b;
        [FormerlyNamed("_b")] private int _c;
    }

    public class Claimed
    {
        [FormerlyNamed("_was")] private int _a;
#pragma warning disable AMB135 // as the compiler lets it pass that does not know the rule
        [FormerlyNamed("_was")] private int _b;
#pragma warning restore AMB135
    }

    public class Property
    {
        public int Total { get; set; }
    }

    public class Field
    {
        public int Total;
    }

    public class HasId
    {
        private int _id;
    }

    public class Moved : HasId
    {
        private int _own;
    }

    public class Empty;

    public class Own : Empty
    {
        private int _version;
    }

    public class Entity
    {
        private int _version;
    }

    public class OfBase : Entity;

    public class Both : Entity
    {
        private int _version;
    }

    public class Order : Shop.Entity
    {
        private int _version = 3, _added;
    }

    public static class Core
    {
        public class Entity
        {
            private int _version = 1;
        }
    }

    public static class Shop
    {
        public class Entity : Core.Entity
        {
            private int _version = 2;
        }
    }
}
