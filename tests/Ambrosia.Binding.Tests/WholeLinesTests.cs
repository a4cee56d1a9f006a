using System.Text;
using Ambrosia.Pumps;

namespace Ambrosia.Binding.Tests;

/// <summary>What an app says is not torn by what its coordinator says to the same file.</summary>
public sealed class WholeLinesTests
{
    /// <summary>It keeps what is written, and counts the writes.</summary>
    private sealed class CountedWrites : MemoryStream
    {
        internal int Count { get; private set; }

        public override void Write(ReadOnlySpan<byte> buffer)
        {
            Count++;
            base.Write(buffer);
        }
    }

    [Fact]
    public void Write_ManyLongLines_WritesThemAtOnce()
    {
        using var written = new CountedWrites();
        string text = string.Join('\n', Enumerable.Range(0, 50).Select(static i => $"{i} {new string('ä', 300)}"));

        new WholeLines(written).Write(text);

        Assert.Equal(1, written.Count);
        Assert.Equal(text + Environment.NewLine, Encoding.UTF8.GetString(written.ToArray()));
    }
}
