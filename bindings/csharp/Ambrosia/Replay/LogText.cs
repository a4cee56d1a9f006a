using System.ComponentModel;
using System.Globalization;
using System.Runtime.CompilerServices;

namespace Ambrosia;

/// <summary>Puts an interpolated text together only if it is logged. The compiler uses it.</summary>
[EditorBrowsable(EditorBrowsableState.Never)]
[InterpolatedStringHandler]
public ref struct LogText
{
    private DefaultInterpolatedStringHandler _text;
    private readonly bool _isWanted;

    public LogText(int literalLength, int formattedCount, ImmortalLogger logger, out bool isWanted)
    {
        _isWanted = isWanted = logger.IsEnabled;
        _text = isWanted ? new DefaultInterpolatedStringHandler(literalLength, formattedCount, CultureInfo.InvariantCulture) : default;
    }

    public void AppendLiteral(string value) => _text.AppendLiteral(value);

    public void AppendFormatted<T>(T value, int alignment = 0, string? format = null) => _text.AppendFormatted(value, alignment, format);

    public void AppendFormatted(ReadOnlySpan<char> value) => _text.AppendFormatted(value);

    public override string ToString() => _isWanted ? _text.ToStringAndClear() : "";
}
