using CRA.Streams;

namespace CRA.Tests;

public sealed class ReceiveBufferTests
{
    // Runs a stream of frames (4 bytes of size, then that many) through the buffer as the in pump does; returns the largest capacity.
    private static int Stream(IEnumerable<int> frames, int receiveMax, ReceiveBuffer buffer, Action<int>? afterFrame = null)
    {
        byte[] stream = [.. frames.SelectMany((size, i) => BitConverter.GetBytes(size).Concat(Enumerable.Repeat((byte)i, size)))];
        int sent = 0, index = 0, largest = 0;
        int[] sizes = [.. frames];
        while (index < sizes.Length)
        {
            int wanted = buffer.Held.Length >= 4 ? BitConverter.ToInt32(buffer.Held) + 4 : 0;
            buffer.MakeRoom(wanted);
            largest = Math.Max(largest, buffer.Capacity);
            int count = Math.Min(Math.Min(receiveMax, buffer.Free.Length), stream.Length - sent);
            stream.AsSpan(sent, count).CopyTo(buffer.Free.Span);
            buffer.Received(count);
            sent += count;
            while (buffer.Held.Length >= 4 && BitConverter.ToInt32(buffer.Held) + 4 is var whole && buffer.Held.Length >= whole)
            {
                Assert.Equal(sizes[index] + 4, whole);
                Assert.Equal(-1, buffer.Held[4..whole].IndexOfAnyExcept((byte)index));
                buffer.Consume(whole);
                afterFrame?.Invoke(index++);
            }
        }
        return largest;
    }

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    public void Stream_OfRandomFrames_ComesThroughWhole(int seed)
    {
        var random = new Random(seed);
        using var buffer = new ReceiveBuffer(new SharedBytes(1L << 30));
        int[] frames = [.. Enumerable.Range(0, 60).Select(_ => random.Next(10) == 0 ? random.Next(3_000_000) : random.Next(100_000))];
        Stream(frames, seed == 1 ? 5_000 : int.MaxValue, buffer, _ => { });
    }

    [Fact]
    public void Capacity_ForABigFrame_GrowsAndShrinksBack()
    {
        using var buffer = new ReceiveBuffer(new SharedBytes(1L << 30));
        Assert.InRange(Stream([10_000_000], int.MaxValue, buffer, _ => { }), 10_000_000, 1 << 24);
        Stream(Enumerable.Repeat(1_000, 200), 1_004, buffer, _ => { });
        Assert.Equal(ReceiveBuffer.BytesMin, buffer.Capacity);
    }

    /// <summary>
    /// An idle connection, or a stranger's hello byte by byte, keeps the smallest; a stream soon has the largest; quiet gives it back.
    /// </summary>
    [Fact]
    public void Capacity_FollowsWhatComes()
    {
        using var buffer = new ReceiveBuffer(new SharedBytes(1L << 30));
        Assert.Equal(ReceiveBuffer.BytesMin, Stream(Enumerable.Repeat(12, 500), 16, buffer, _ => { }));
        Assert.Equal(ReceiveBuffer.BytesMin, Stream([ReceiveBuffer.BytesMin - 8], 1, buffer, _ => { }));
        Assert.Equal(ReceiveBuffer.BytesBusy, Stream(Enumerable.Repeat(1_000, 3_000), int.MaxValue, buffer, _ => { }));
        Stream(Enumerable.Repeat(12, 200), 16, buffer, _ => { });
        Assert.Equal(ReceiveBuffer.BytesMin, buffer.Capacity);
    }

    /// <summary>Big frames one behind another do not make it shrink between them.</summary>
    [Fact]
    public void Capacity_BetweenBigFrames_Stays()
    {
        using var buffer = new ReceiveBuffer(new SharedBytes(1L << 30));
        var after = new List<int>();
        Stream(Enumerable.Repeat(3_000_000, 6), int.MaxValue, buffer, _ => after.Add(buffer.Capacity));
        Assert.All(after, static capacity => Assert.InRange(capacity, 3_000_000, 1 << 23));
    }

    [Fact]
    public void Capacity_ForAMereClaimOfSize_DoesNotGrow()
    {
        using var buffer = new ReceiveBuffer(new SharedBytes(1L << 30));
        buffer.Received(16);
        for (int i = 0; i < 100; i++) buffer.MakeRoom(ReceiveBuffer.FrameBytesMax);
        Assert.Equal(ReceiveBuffer.BytesMin, buffer.Capacity);
    }

    [Fact]
    public void MakeRoom_AgainstItsLimits_Throws()
    {
        using var buffer = new ReceiveBuffer(new SharedBytes(1L << 30));
        Assert.Throws<InvalidOperationException>(() => buffer.MakeRoom(ReceiveBuffer.FrameBytesMax + 1));
        Assert.Throws<InvalidOperationException>(() => buffer.MakeRoom(-1));
        Assert.Throws<InvalidOperationException>(() => buffer.Consume(1));
        buffer.Received(buffer.Free.Length);
        Assert.Throws<InvalidOperationException>(() => buffer.MakeRoom(100)); // a whole frame was left
    }
}
