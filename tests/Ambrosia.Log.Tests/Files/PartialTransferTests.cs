using Ambrosia.Log.Files;

namespace Ambrosia.Log.Tests;

/// <summary>
/// The kernel may move fewer bytes than it was asked to, at any call, and be interrupted before any: what stands in the file and what was
/// read are the same. Every other failure, at any call, is told and not tried again.
/// </summary>
public sealed class PartialTransferTests
{
    private const int Eio = 5, Enospc = 28, Offset = 13;

    /// <summary>The transfer has parts of several sizes, an empty one among them, and one byte.</summary>
    private static readonly int[] s_parts = [7, 0, 1, 64, 0, 30];

    public enum Transfer { Read, Write, WriteParts, WriteManyParts }

    public static TheoryData<Transfer> Transfers() => [.. Enum.GetValues<Transfer>()];

    [Theory]
    [MemberData(nameof(Transfers))]
    public void Transfer_EveryShortCount_MovesTheSameBytes(Transfer transfer)
    {
        int total = Source(transfer).Length;
        for (int max = 1; max <= total; max++)
        {
            int most = max;
            Check(transfer, PartialCalls.Holding(Before(transfer), _ => most), $"{max} bytes a call");
        }
    }

    /// <summary>One call is short, by every count there is, wherever in the transfer it comes.</summary>
    [Theory]
    [MemberData(nameof(Transfers))]
    public void Transfer_OneShortCallAnywhere_MovesTheSameBytes(Transfer transfer)
    {
        int total = Source(transfer).Length;
        for (int at = 1; at <= 8; at++)
            for (int count = 1; count <= total; count++)
            {
                (int call, int bytes) = (at, count);
                Check(transfer, PartialCalls.Holding(Before(transfer), n => n == call ? bytes : total / 8 + 1),
                    $"{bytes} bytes at call {call}");
            }
    }

    [Theory]
    [MemberData(nameof(Transfers))]
    public void Transfer_InterruptedAtAnyCallOfAnyLength_MovesTheSameBytes(Transfer transfer)
    {
        int total = Source(transfer).Length, interrupted = 0;
        for (int max = 1; max <= total; max += 1 + max / 8)
            for (int at = 1; ; at++)
            {
                (int most, int call) = (max, at);
                PartialCalls calls = PartialCalls.Holding(Before(transfer), _ => most,
                    n => n == call || n == call + 1 ? Libc.Interrupted : 0);
                Check(transfer, calls, $"{max} bytes a call, interrupted twice at {at}");
                if (calls.Calls < at) break;
                interrupted++;
            }
        Assert.True(interrupted > total, $"{interrupted} interruptions");
    }

    [Theory]
    [MemberData(nameof(Transfers))]
    public void Transfer_FailsAtAnyCall_IsToldAndNotTriedAgain(Transfer transfer)
    {
        foreach (int errno in new[] { Eio, Enospc })
            for (int at = 1; ; at++)
            {
                int call = at;
                PartialCalls calls = PartialCalls.Holding(Before(transfer), _ => 5, n => n == call ? errno : 0);
                using var file = new PosixFile("/some/file", 1, calls);
                var failure = Record.Exception(() => Run(transfer, file)) as IOException;
                if (calls.Calls < at) break;
                Assert.NotNull(failure);
                Assert.Equal((errno, at), (failure.HResult, calls.Calls));
                Assert.Contains("/some/file", failure.Message, StringComparison.Ordinal);
            }
    }

    [Fact]
    public void Write_NothingIsTaken_IsAFailureAndNoLoop()
    {
        foreach (Transfer transfer in new[] { Transfer.Write, Transfer.WriteParts })
        {
            PartialCalls calls = PartialCalls.Holding(Before(transfer), static n => n == 2 ? 0 : 5);
            using var file = new PosixFile("/some/file", 1, calls);
            Assert.Throws<IOException>(() => Run(transfer, file));
            Assert.Equal(2, calls.Calls);
        }
    }

    [Fact]
    public void Read_FileEndsInside_GivesWhatIsThere()
    {
        byte[] content = Bytes(50);
        for (int max = 1; max <= 60; max++)
        {
            int most = max;
            using var file = new PosixFile("/some/file", 1, PartialCalls.Holding(content, _ => most));
            byte[] buffer = new byte[80];
            Assert.Equal(40, file.Read(buffer, 10));
            Assert.Equal(content[10..], buffer[..40]);
        }
    }

    /// <summary>Calls that do all or nothing: interrupted, they are made again; failed, they are not.</summary>
    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    [InlineData(5)]
    public void Whole_Interrupted_IsDoneOnce(int interruptions)
    {
        PartialCalls Calls() =>
            PartialCalls.Holding(Bytes(10), errno: n => n <= interruptions ? Libc.Interrupted : n > interruptions + 1 ? Eio : 0);
        PartialCalls calls = Calls();
        using (var file = new PosixFile("f", 1, calls)) file.Flush();
        Assert.Equal((1, 1), (calls.Flushes, calls.Closed));
        calls = Calls();
        using (var file = new PosixFile("f", 1, calls)) file.SetLength(4);
        Assert.Equal(4, calls.Content.Length);
        calls = Calls();
        using (var file = new PosixFile("f", 1, calls)) file.Allocate(0, 4_096);
        Assert.Equal(4_096, calls.Allocated);
        calls = Calls();
        using (var file = new PosixFile("f", 1, calls)) Assert.True(file.TryLock(FileLockKind.Shared));
        Assert.True(calls.IsLocked);
    }

    [Fact]
    public void Flush_Fails_IsNeverAskedAgain()
    {
        PartialCalls calls = PartialCalls.Holding([], errno: static n => n == 1 ? Eio : 0);
        using var file = new PosixFile("f", 1, calls);
        Assert.Equal(Eio, Assert.Throws<IOException>(file.Flush).HResult);
        Assert.Equal((1, 0), (calls.Calls, calls.Flushes));
    }

    /// <summary>The control: bytes that the kernel counts and does not move are noticed by the same check.</summary>
    [Fact]
    public void Check_KernelThatLies_IsNoticed()
    {
        PartialCalls calls = PartialCalls.Holding(Before(Transfer.Write));
        calls.IsLying = true;
        Assert.Throws<InvalidOperationException>(() => Check(Transfer.Write, calls, "a lie"));
    }

    private static void Check(Transfer transfer, PartialCalls calls, string what)
    {
        try
        {
            using var file = new PosixFile("/some/file", 1, calls);
            byte[] got = Run(transfer, file);
            Assert.Equal(Source(transfer), got);
            if (transfer != Transfer.Read) Assert.Equal([.. Before(transfer), .. Source(transfer)], calls.Content.ToArray());
        }
        catch (Exception e)
        {
            throw new InvalidOperationException($"{what}: {e.Message}", e);
        }
    }

    /// <summary>Returns what was read or written.</summary>
    private static byte[] Run(Transfer transfer, PosixFile file)
    {
        byte[] source = Source(transfer);
        switch (transfer)
        {
            case Transfer.Read:
                byte[] buffer = new byte[source.Length];
                Assert.Equal(buffer.Length, file.Read(buffer, Offset));
                return buffer;
            case Transfer.Write:
                file.Write(source, Offset);
                return source;
            default:
                file.Write(Parts(transfer, source), Offset);
                return source;
        }
    }

    private static ReadOnlyMemory<byte>[] Parts(Transfer transfer, byte[] source)
    {
        int[] sizes = transfer == Transfer.WriteParts ? s_parts : [.. Enumerable.Repeat(1, source.Length)]; // more than one call takes
        var parts = new ReadOnlyMemory<byte>[sizes.Length];
        int at = 0;
        for (int i = 0; i < sizes.Length; at += sizes[i++]) parts[i] = source.AsMemory(at, sizes[i]);
        return parts;
    }

    private static byte[] Source(Transfer transfer) => transfer switch
    {
        Transfer.WriteManyParts => Bytes(150),
        Transfer.WriteParts => Bytes(s_parts.Sum()),
        _ => Bytes(100),
    };

    /// <summary>Returns what stands in the file below the offset, and for a read also behind it.</summary>
    private static byte[] Before(Transfer transfer) => [.. Bytes(Offset), .. transfer == Transfer.Read ? Source(transfer) : []];

    private static byte[] Bytes(int count) => [.. Enumerable.Range(1, count).Select(static i => (byte)i)];
}
