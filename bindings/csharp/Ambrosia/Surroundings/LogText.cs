using System.ComponentModel;
using System.Globalization;
using System.Runtime.CompilerServices;

namespace Ambrosia;

/// <summary>An interpolated text that is put together only if it is logged. Used by the compiler.</summary>
[EditorBrowsable(EditorBrowsableState.Never)]
[InterpolatedStringHandler]
public ref struct LogText
{
    private DefaultInterpolatedStringHandler text;
    private readonly bool isWanted;

    public LogText(int literalLength, int formattedCount, ImmortalLogger logger, out bool isWanted)
    {
        this.isWanted = isWanted = logger.IsEnabled;
        text = isWanted ? new DefaultInterpolatedStringHandler(literalLength, formattedCount, CultureInfo.InvariantCulture) : default;
    }

    public void AppendLiteral(string value) => text.AppendLiteral(value);

    public void AppendFormatted<T>(T value, int alignment = 0, string? format = null) => text.AppendFormatted(value, alignment, format);

    public void AppendFormatted(ReadOnlySpan<char> value) => text.AppendFormatted(value);

    public override string ToString() => isWanted ? text.ToStringAndClear() : "";
}
