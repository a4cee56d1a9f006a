using System.Formats.Cbor;
using FsCheck;
using FsCheck.Fluent;
using Reference = System.Formats.Cbor;

namespace Ambrosia.Protocol.Tests;

/// <summary>Our CBOR codec against System.Formats.Cbor. A failure prints FsCheck's seed.</summary>
public sealed class CborDifferentialTests
{
    [Fact]
    public void CborWriter_RandomItems_AreReadAndWrittenAgainByTheReference() => CheckAll(static item =>
    {
        byte[] ours = item.Encode();
        var reader = new Reference.CborReader(ours, CborConformanceMode.Strict);
        var writer = new Reference.CborWriter(CborConformanceMode.Strict);
        Copy(reader, writer, indefinite: false);
        Assert.Equal(0, reader.BytesRemaining);
        Assert.Equal(ours, writer.Encode());
    });

    [Fact]
    public void CborReader_RandomItems_ReadBackToTheSameBytes() => CheckAll(static item =>
    {
        byte[] ours = item.Encode();
        Assert.Equal(ours, CborStructures.Reencode(ours));
    });

    [Fact]
    public void CborReader_IndefiniteItemsOfTheReference_AreReadLenientlyAndRefusedStrictly() => CheckAll(static item =>
    {
        byte[] ours = item.Encode();
        var writer = new Reference.CborWriter(CborConformanceMode.Lax, convertIndefiniteLengthEncodings: false);
        Copy(new Reference.CborReader(ours, CborConformanceMode.Strict), writer, indefinite: true);
        byte[] theirs = writer.Encode();
        CborReader.Check(theirs, lenient: true);
        if (theirs.AsSpan().SequenceEqual(ours)) return;
        Assert.Equal(CborError.NotDeterministic, Assert.Throws<CborException>(() => CborReader.Check(theirs)).Error);
    });

    [Fact]
    public void CborReader_RandomBytes_AcceptsNothingThatTheReferenceRefuses() => CheckBytes(static bytes =>
    {
        try
        {
            CborReader.Check(bytes);
        }
        catch (CborException)
        {
            return;
        }
        var reader = new Reference.CborReader(bytes, CborConformanceMode.Strict, allowMultipleRootLevelValues: true);
        while (reader.BytesRemaining > 0) reader.SkipValue();
    });

    private static void CheckAll(Action<CborItem> property) => Prop.ForAll(CborItems.Arbitrary, property).QuickCheckThrowOnFailure();

    private static void CheckBytes(Action<byte[]> property)
    {
        Config config = Config.QuickThrowOnFailure.WithMaxTest(3000);
        Prop.ForAll(ArbMap.Default.ArbFor<byte[]>(), property).Check(config);
    }

    /// <summary>One item from the reference's reader to its writer; floats by value, so that the reference chooses the width.</summary>
    private static void Copy(Reference.CborReader from, Reference.CborWriter to, bool indefinite)
    {
        switch (from.PeekState())
        {
            case CborReaderState.StartArray:
                int? items = from.ReadStartArray();
                to.WriteStartArray(indefinite ? null : items);
                while (from.PeekState() != CborReaderState.EndArray) Copy(from, to, indefinite);
                from.ReadEndArray();
                to.WriteEndArray();
                break;
            case CborReaderState.StartMap:
                int? pairs = from.ReadStartMap();
                to.WriteStartMap(indefinite ? null : pairs);
                while (from.PeekState() != CborReaderState.EndMap) Copy(from, to, indefinite);
                from.ReadEndMap();
                to.WriteEndMap();
                break;
            case CborReaderState.Tag:
                to.WriteTag(from.ReadTag());
                Copy(from, to, indefinite);
                break;
            default:
                to.WriteEncodedValue(from.ReadEncodedValue().Span);
                break;
        }
    }
}
