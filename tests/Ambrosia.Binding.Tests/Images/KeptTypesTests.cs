using System.Collections.Immutable;
using Ambrosia.State;

namespace Ambrosia.Binding.Tests.Images;

/// <summary>The table of types against the code that writes them; tests/Ambrosia.Generators.Tests walks its rows.</summary>
public sealed class KeptTypesTests
{
    [Fact]
    public void Table_AndTheCode_NameTheSameTypes()
    {
        Assert.Equal(Names(static each => each is Kept.Collection or Kept.Ordered),
            Sorted([.. Ambrosia.State.Collections.MakerOf.Keys, .. ImmutableCollections.MakerOf.Keys, typeof(List<>.Enumerator),
                typeof(ImmutableArray<>)]));
        Assert.Equal(Names(static each => each is Kept.Item), Sorted(FrameworkSerializers.ByType.Keys));
        Assert.All(Names(static each => each is Kept.Value), static name =>
            Assert.True(typeof(object).Assembly.GetType(name) is { } type && (type == typeof(string) || Slots.IsPrimitive(type)), name));
    }

    /// <summary>Of the classes of this library the table has those that are written.</summary>
    [Fact]
    public void Library_EachPublicClass_IsWrittenIfTheTableHasIt() => Assert.All(
        typeof(Immortal).Assembly.GetExportedTypes().Where(static type => type is { IsClass: true, IsAbstract: false, IsGenericType: false }
            && !type.IsSubclassOf(typeof(Exception)) && !type.IsSubclassOf(typeof(Attribute)) && !type.IsSubclassOf(typeof(Delegate))),
        static type => Assert.Equal((type, KeptTypes.HowOf(type.FullName!) != Kept.No), (type, ObjectShapes.Of(type) is not null)));

    [Fact]
    public void Class_ThatIsRefused_IsRefusedWithWhatToDoInstead()
    {
        NotWritableException refused = Assert.Throws<NotWritableException>(() => GraphBytes.Written(new object[] { new Lazy<int>(5) }));
        Assert.EndsWith("cannot be written; compute the value where it is needed, or keep the value itself", refused.Message,
            StringComparison.Ordinal);
    }

    private static string[] Names(Func<Kept, bool> how) => [.. KeptTypes.Groups.Where(group => how(group.How))
        .SelectMany(static group => group.Names.Select(name => $"{group.Space}.{name}")).Order(StringComparer.Ordinal)];

    private static string[] Sorted(IEnumerable<Type> types) =>
        [.. types.Select(static type => type.FullName!).Order(StringComparer.Ordinal)];
}
