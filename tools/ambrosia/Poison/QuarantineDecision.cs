namespace Ambrosia.Tools;

/// <summary>What came of a decision about a message that was set aside.</summary>
/// <param name="Outcome"><c>retried</c>, <c>dropped</c>, or <c>setAside</c>: it was tried again and threw again.</param>
/// <param name="Tries">How often it has thrown now; null where it is gone.</param>
/// <param name="Why">The exception of the last try; null where it is gone.</param>
internal sealed record QuarantineDecision(string Message, string Outcome, uint? Tries = null, string? Why = null) : IReport
{
    public void Draw(Screen screen) => screen.Line(
        Outcome == "setAside" ? $"{Message}: threw again, for the {Tries}. time, and stays set aside: {Why}" : $"{Message}: {Outcome}",
        Outcome == "setAside" ? Tone.Warning : Tone.Good);
}
