using System.Text;

namespace Ambrosia;

/// <summary>Whole lines on a writer that several immortals share, each behind its name. Any thread.</summary>
internal sealed class NamedLines(TextWriter to, string name) : TextWriter
{
    public override Encoding Encoding => to.Encoding;

    public override void WriteLine(string? value)
    {
        lock (to) to.WriteLine($"{name}: {value}");
    }

    public override void Write(char value) => throw new NotSupportedException("whole lines only");

    public override void Flush() => to.Flush();
}
