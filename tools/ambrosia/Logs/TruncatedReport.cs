namespace Ambrosia.Tools;

/// <summary>A live log was truncated while it was read: reading goes on at the oldest page that is kept.</summary>
/// <param name="Truncated">The position that could no longer be read.</param>
internal sealed record TruncatedReport(ulong Truncated) : IReport
{
    public void Draw(Screen screen) =>
        screen.Line($"(the log from Lsn {Truncated} on was truncated meanwhile; going on behind it)", Tone.Warning);
}
