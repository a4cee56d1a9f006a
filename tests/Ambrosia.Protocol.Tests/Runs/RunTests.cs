using Ambrosia.Protocol.Payloads;
using Ambrosia.Protocol.Runs;

namespace Ambrosia.Protocol.Tests;

/// <summary>Runs too large for a vector file, and what reading them costs.</summary>
public sealed class RunTests
{
    [Theory]
    [InlineData(1, true)]
    [InlineData(2, false)]
    public void Run_AboveItsLimit_MayHoldOneMessageOnly(int messages, bool accepted)
    {
        byte[] message = MessageOf(method: 1, argumentBytes: SizeLimits.BatchBytesMax);
        byte[] run = RunOf([.. Enumerable.Repeat(message, messages)]);
        if (accepted) Assert.Equal(message.Length, RunView.ReadWhole(run, SizeLimits.MessageBytesMaxDefault).Messages.Length);
        else Assert.Equal("P3.5", Assert.Throws<ProtocolViolation>(() => { RunView.Read(run); }).Section);
    }

    [Fact]
    public void MessageReader_MessagesOfEveryLengthForm_AreReadWithoutAllocating()
    {
        byte[][] messages = [
            .. new[] { 0, 1, 100, 126, 127, 128, 129, 16000, 16382, 16383, 16384, 20000 }.Select(
                static n => MessageOf(0x80000000u + (uint)n, n))];
        byte[] run = RunOf(messages);
        Sum(run);
        long before = GC.GetAllocatedBytesForCurrentThread();
        long sum = Sum(run);
        Assert.Equal(0, GC.GetAllocatedBytesForCurrentThread() - before);
        Assert.Equal(messages.Sum(static m => m.Length), sum);
    }

    /// <summary>
    /// Short messages are looked at once where others are walked twice; the verdict on any bytes must be that of the two walks.
    /// </summary>
    [Fact]
    public void ReadWhole_AnyBytes_SaysWhatCheckAndReaderSay()
    {
        var random = new Random(8);
        int refused = 0;
        for (int round = 0; round < 20_000; round++)
        {
            byte[][] messages = [
                .. Enumerable.Range(0, random.Next(1, 8))
                    .Select(_ => MessageOf((uint)random.Next(1, 300), random.Next(0, random.Next(4) == 0 ? 300 : 20)))];
            byte[] run = RunOf(messages);
            if (random.Next(2) == 0) run[16] = (byte)random.Next(1, 10); // another count
            for (int change = random.Next(3); change > 0; change--) run[random.Next(RunHeader.Bytes, run.Length)] = (byte)random.Next(256);
            if (random.Next(4) == 0) run = run[..random.Next(RunHeader.Bytes, run.Length)];
            uint bytesMax = (uint)(random.Next(2) == 0 ? random.Next(1, 200) : 1_000);
            string? expected = SectionOf(() => WalkTwice(run, bytesMax)), found = SectionOf(() => RunView.ReadWhole(run, bytesMax));
            Assert.Equal(expected, found);
            if (found is not null) refused++;
        }
        Assert.InRange(refused, 2_000, 18_000); // both verdicts were met often
    }

    private static void WalkTwice(byte[] bytes, uint messageBytesMax)
    {
        RunView run = RunView.Read(bytes);
        MessageScanner.Check(run.Messages, run.Header.Count, messageBytesMax);
        var messages = new MessageReader(run);
        while (messages.Next()) { }
    }

    private static string? SectionOf(Action read)
    {
        try
        {
            read();
            return null;
        }
        catch (ProtocolViolation violation)
        {
            return violation.Section;
        }
    }

    [Fact]
    public void CutFirst_AtEveryMessage_LeavesTheRest()
    {
        byte[][] messages = [.. Enumerable.Range(1, 20).Select(static n => MessageOf((uint)n, n * 20))];
        RunView run = RunView.Read(RunOf(messages));
        for (uint cut = 0; cut < run.Header.Count; cut++)
        {
            RunHeader rest = run.Header.CutFirst(cut);
            var reader = new MessageReader(run.Messages[MessageScanner.Skip(run.Messages, cut)..], rest.Kind, rest.Keyed);
            Assert.True(reader.Next());
            Assert.Equal((cut + 1, run.Header.Last, run.Header.Hash), (reader.Method, rest.Last, rest.Hash));
        }
        Assert.Throws<ArgumentOutOfRangeException>(static () => RunView.Read(RunOf([MessageOf(1, 1)])).Header.CutFirst(1));
    }

    private static long Sum(byte[] run)
    {
        long sum = 0;
        var reader = new MessageReader(RunView.Read(run));
        while (reader.Next()) sum += reader.Whole.Length;
        return sum;
    }

    private static byte[] MessageOf(uint method, int argumentBytes)
    {
        int length = Varint.SizeOf(method) + argumentBytes;
        var message = new byte[Varint.SizeOf((ulong)length) + length];
        int at = Varint.Write(message, (ulong)length);
        Varint.Write(message.AsSpan(at), method);
        return message;
    }

    private static byte[] RunOf(byte[][] messages)
    {
        var header = new byte[RunHeader.Bytes];
        new RunHeader(MessageKind.Fork, Keyed: false, Shard: 0, Peer: 0, First: 1, (uint)messages.Length, ExtensionBytes: 0, Hash: 99)
            .Write(header);
        return [.. header, .. messages.SelectMany(static m => m)];
    }
}
