using System.Text;
using FsCheck;
using FsCheck.Fluent;

namespace Ambrosia.Protocol.Tests;

/// <summary>Random CBOR items: numbers at the edges of their heads, floats of every width, texts, nested arrays, maps and tags.</summary>
internal static class CborItems
{
    public static Arbitrary<CborItem> Arbitrary { get; } = Arb.From(Gen.Sized(size => ItemOf(Math.Min(size, 40))), Shrink);

    private static Gen<CborItem> ItemOf(int size)
    {
        Gen<CborItem> scalar = Gen.OneOf(
            Edge.Select(static CborItem (v) => new CborItem.Unsigned(v)),
            Edge.Select(static CborItem (v) => new CborItem.Negative(v)),
            ArbMap.Default.GeneratorFor<byte[]>().Select(static CborItem (v) => new CborItem.Bytes(v)),
            ArbMap.Default.GeneratorFor<string>().Select(static CborItem (v) => new CborItem.Text(WithoutLoneSurrogates(v ?? ""))),
            Gen.OneOf(ArbMap.Default.GeneratorFor<double>(), ArbMap.Default.GeneratorFor<float>().Select(static v => (double)v),
                ArbMap.Default.GeneratorFor<short>().Select(static v => v / 256.0))
                .Where(static v => !double.IsNaN(v)).Select(static CborItem (v) => new CborItem.Float(v)),
            Gen.Elements<CborItem>(new CborItem.Boolean(true), new CborItem.Boolean(false), new CborItem.Null()));
        if (size <= 1) return scalar;
        Gen<CborItem> inner = ItemOf(size / 4);
        return Gen.Frequency(
            (4, scalar),
            (1, inner.ArrayOf().Select(static CborItem (v) => new CborItem.Array([.. v.Take(30)]))),
            (1, inner.ArrayOf().Select(static CborItem (v) => CborItem.Map.Sorted(v.Take(30)))),
            (1, Gen.Choose(6, 70000).SelectMany(tag => inner.Select(CborItem (v) => new CborItem.Tag((ulong)tag, v)))));
    }

    private static Gen<ulong> Edge { get; } = Gen.OneOf(
        ArbMap.Default.GeneratorFor<uint>().Select(static v => (ulong)v),
        ArbMap.Default.GeneratorFor<ulong>(),
        Gen.Elements<ulong>(0, 23, 24, 255, 256, 65535, 65536, uint.MaxValue, 1ul + uint.MaxValue, long.MaxValue, 1ul + long.MaxValue,
            ulong.MaxValue));

    private static string WithoutLoneSurrogates(string text) => Encoding.UTF8.GetString(Encoding.UTF8.GetBytes(text));

    private static IEnumerable<CborItem> Shrink(CborItem item) => item switch
    {
        CborItem.Array a => [.. a.Items, .. a.Items.Select((_, i) => new CborItem.Array([.. a.Items.Where((_, k) => k != i)]))],
        CborItem.Map m => m.Pairs.SelectMany(static p => new[] { p.Key, p.Value }),
        CborItem.Tag t => [t.Item],
        _ => [],
    };
}
