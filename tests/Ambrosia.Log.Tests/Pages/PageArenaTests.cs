using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using Ambrosia.Log.Files;
using Ambrosia.Log.Format;
using Ambrosia.Log.Pages;

namespace Ambrosia.Log.Tests;

public sealed class PageArenaTests
{
    private const int LargePageBytes = 2 << 20;

    [Theory]
    [InlineData(1 << 20, 2, LargePageBytes)]
    [InlineData(2 << 20, 1, LargePageBytes)]
    [InlineData(4 << 20, 1, LargePageBytes)]
    [InlineData(16 << 10, 1, LogFormat.BlockBytes)] // a page by itself: nobody makes many that small
    [InlineData(3 << 20, 1, LogFormat.BlockBytes)]
    public void Take_PagesOfASize_LieSideBySideFromAMultipleOf(int pageBytes, int pages, int alignment)
    {
        var arena = new PageArena(pageBytes);
        nuint first = 0;
        for (int i = 0; i < pages; i++)
        {
            Assert.True(arena.HasRoom);
            AlignedBlock page = arena.Take();
            Assert.Equal(pageBytes, page.Length);
            if (i == 0) first = AddressOf(page);
            Assert.Equal(first + (nuint)(i * pageBytes), AddressOf(page));
        }
        Assert.False(arena.HasRoom);
        Assert.Equal(0u, (uint)(first % (nuint)alignment));
    }

    [Fact]
    public void AdviseLargePages_WhileBothPagesAreWritten_LosesNothing()
    {
        var arena = new PageArena(1 << 20);
        AlignedBlock first = arena.Take(), second = arena.Take();
        byte[] bytes = new byte[1 << 20];
        new Random(3).NextBytes(bytes);
        bytes.CopyTo(first.Span);
        bytes.AsSpan(0, 5_000).CopyTo(second.Span);
        var rest = new Thread(() => bytes.AsSpan(5_000).CopyTo(second.Span[5_000..]));
        rest.Start();
        arena.AdviseLargePages();
        arena.AdviseLargePages();
        rest.Join();
        Assert.True(first.Span.SequenceEqual(bytes));
        Assert.True(second.Span.SequenceEqual(bytes));
    }

    private static unsafe nuint AddressOf(AlignedBlock block) => (nuint)Unsafe.AsPointer(ref MemoryMarshal.GetReference(block.Span));
}
