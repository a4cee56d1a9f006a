using System.Globalization;

namespace Ambrosia.Log.Fencing;

/// <summary>Says for how long one side of a <see cref="Meeting"/> has seen what the other had changed already.</summary>
/// <param name="Names">A renamed file was found under its old name for so long at most.</param>
/// <param name="Content">What was written and flushed was read as it was before for so long at most.</param>
/// <param name="Listing">A file that was there was missing in a listing for so long at most.</param>
public readonly record struct Staleness(TimeSpan Names, TimeSpan Content, TimeSpan Listing)
{
    /// <summary>Nothing was seen late.</summary>
    public bool IsNone => this == default;

    /// <summary>The longest of the three.</summary>
    public TimeSpan Longest => TimeSpan.FromTicks(Math.Max(Names.Ticks, Math.Max(Content.Ticks, Listing.Ticks)));

    /// <summary>Says what was seen late, in words; null: nothing was.</summary>
    public string? Text => Names > TimeSpan.Zero ? $"a renamed file was seen under its old name for {Ms(Names)}"
        : Content > TimeSpan.Zero ? $"a file that was written and flushed was read as it was before for {Ms(Content)}"
        : Listing > TimeSpan.Zero ? $"a file that was there was not listed for {Ms(Listing)}" : null;

    internal static Staleness? TryParse(string text)
    {
        string[] parts = text.Split('-');
        Span<long> micros = stackalloc long[3];
        if (parts.Length != micros.Length) return null;
        for (int i = 0; i < parts.Length; i++)
            if (!long.TryParse(parts[i], NumberStyles.None, CultureInfo.InvariantCulture, out micros[i])
                || micros[i] > long.MaxValue / TimeSpan.TicksPerMicrosecond) return null;
        return new Staleness(Of(micros[0]), Of(micros[1]), Of(micros[2]));
    }

    /// <summary>Writes the three in microseconds; what was seen late at all is never 0.</summary>
    public override string ToString() => $"{Micros(Names)}-{Micros(Content)}-{Micros(Listing)}";

    private static TimeSpan Of(long micros) => TimeSpan.FromTicks(micros * TimeSpan.TicksPerMicrosecond);

    private static string Micros(TimeSpan time) => ((time.Ticks + TimeSpan.TicksPerMicrosecond - 1) / TimeSpan.TicksPerMicrosecond)
        .ToString(CultureInfo.InvariantCulture);

    private static string Ms(TimeSpan time) => string.Create(CultureInfo.InvariantCulture, $"{time.TotalMilliseconds:0.0} ms");
}
