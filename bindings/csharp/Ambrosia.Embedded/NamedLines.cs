using System.Text;

namespace Ambrosia;

/// <summary>Writes whole lines, each behind an immortal's name, to a writer that several immortals share. Any thread may call it.</summary>
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
