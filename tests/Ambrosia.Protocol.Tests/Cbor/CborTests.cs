using System.Buffers;
using Ambrosia.Protocol.Runs;

namespace Ambrosia.Protocol.Tests;

/// <summary>What the vectors do not say of the codec: reading on, skipping, nesting, allocation, misuse.</summary>
public sealed class CborTests
{
    [Fact]
    public void CborReader_MissingAndSurplusArguments_DefaultAndAreSkipped()
    {
        byte[] two = Encoded(static (ref w) => { w.WriteInt64(5); w.WriteString("x"); });
        var reader = new CborReader(two);
        Assert.Equal(5, reader.ReadInt64());
        Assert.Equal(CborKind.Text, reader.PeekKind());
        reader.Skip();
        Assert.True(reader.AtEnd);
        Assert.Equal(CborKind.None, reader.PeekKind());
    }

    [Fact]
    public void CborReader_SkipAndReadEncoded_PassExactlyOneItem()
    {
        byte[] bytes = Encoded(static (ref w) =>
        {
            w.WriteMapHeader(2);
            w.WriteInt64(1);
            w.WriteArrayHeader(2);
            w.WriteTag(1);
            w.WriteInt64(2);
            w.WriteBytes([1, 2, 3]);
            w.WriteString("k");
            w.WriteNull();
            w.WriteInt64(99);
        });
        var reader = new CborReader(bytes);
        Assert.Equal(bytes.Length - 2, reader.ReadEncoded().Length);
        Assert.Equal(99, reader.ReadInt64());
    }

    [Fact]
    public void CborReader_EnteringDeeperThanTheLimit_IsRefusedWhereverTheLevelsAre()
    {
        CborException deep = Assert.Throws<CborException>(static () =>
        {
            var reader = new CborReader([0x81, 0x81, 0x00]);
            for (int i = 0; i < CborReader.DepthMax - 1; i++) reader.EnterNested();
            reader.Skip();
        });
        Assert.Equal(CborError.TooDeep, deep.Error);
        Assert.ThrowsAny<InvalidOperationException>(static () =>
        {
            var writer = new CborWriter(new byte[1]);
            for (int i = 0; i <= CborReader.DepthMax; i++) writer.EnterNested();
        });
    }

    [Fact]
    public void CborWriter_RoomForTheEncodingAndNotAByteMore_IsEnough()
    {
        foreach (string text in new[] { "", "a", "ä", "seven!!", "a text of more than twenty-three bytes",
            "mehr als dreiundzwanzig Bytes: äöü" })
        {
            byte[] reference = Encoded((ref w) => w.WriteString(text));
            var exact = new byte[reference.Length];
            var writer = new CborWriter(exact);
            writer.WriteString(text);
            Assert.Equal(reference, exact);
            Assert.Throws<InvalidOperationException>(() => new CborWriter(new byte[reference.Length - 1]).WriteString(text));
        }
    }

    [Fact]
    public void CborWriter_WhatNoReaderTakes_IsRefusedWhereItIsWritten()
    {
        Assert.ThrowsAny<ArgumentException>(static () => new CborWriter(new byte[100]).WriteString("\uD800"));
        Assert.ThrowsAny<ArgumentException>(static () => new CborWriter(new byte[100]).WriteString(new string('x', 30) + "\uDC00"));
        Assert.Throws<ArgumentOutOfRangeException>(static () => new CborWriter(new byte[100]).WriteSimple(24));
        Assert.Throws<ArgumentOutOfRangeException>(static () => new CborWriter(new byte[100]).WriteArrayHeader(-1));
    }

    [Fact]
    public void Cbor_ArgumentsOfACall_AreWrittenAndReadWithoutAllocating()
    {
        var buffer = new ArrayBufferWriter<byte>(4096);
        RoundTrip(buffer);
        long before = GC.GetAllocatedBytesForCurrentThread();
        for (int i = 0; i < 10; i++) RoundTrip(buffer);
        Assert.Equal(0, GC.GetAllocatedBytesForCurrentThread() - before);
    }

    [Fact]
    public void Failure_OfAnException_KeepsTypesMessagesAndSixteenCauses()
    {
        Exception exception = new FormatException("innermost");
        for (int i = 0; i < 20; i++) exception = new InvalidOperationException($"level {i}", exception);
        byte[] bytes = Encoded((ref w) => FailureInfo.Of(exception).Write(ref w));
        var reader = new CborReader(bytes);
        FailureInfo? failure = FailureInfo.Read(ref reader);
        Assert.Equal(("System.InvalidOperationException", "level 19"), (failure.TypeName, failure.Message));
        int depth = 0;
        for (; failure is not null; failure = failure.Inner) depth++;
        Assert.Equal(FailureInfo.DepthMax, depth);
    }

    private delegate void Writing(ref CborWriter to);

    private static byte[] Encoded(Writing write)
    {
        var buffer = new TinySteps();
        var writer = new CborWriter(buffer);
        write(ref writer);
        writer.Flush();
        return [.. buffer.Bytes];
    }

    private static void RoundTrip(ArrayBufferWriter<byte> buffer)
    {
        buffer.ResetWrittenCount();
        var writer = new CborWriter(buffer);
        writer.WriteInt64(-1000);
        writer.WriteUtf8("name"u8);
        writer.WriteString("a text that is longer than twenty-three bytes");
        writer.WriteDouble(1.1);
        writer.WriteGuid(default);
        writer.WriteDecimal(1.5m);
        writer.WriteDateTime(default);
        writer.Flush();
        var reader = new CborReader(buffer.WrittenSpan);
        reader.ReadInt64();
        reader.ReadUtf8();
        reader.Skip();
        reader.ReadDouble();
        reader.ReadGuid();
        reader.ReadDecimal();
        reader.ReadDateTime();
        if (!reader.AtEnd) throw new InvalidOperationException("items are left");
    }
}
