using Ambrosia.Tools.Output;

namespace Ambrosia.Tools.Contracts;

/// <summary>It names what callers or logs of the old build cannot do with the new one, or what is wrong in a manifest.</summary>
/// <param name="Place">What it is about: a contract, method, parameter, type, field, member or case.</param>
internal sealed record ContractBreak(string Place, string Reason, string Mend);

/// <summary>It names a change that callers and logs do not notice.</summary>
internal sealed record ContractAddition(string Place, string What);

/// <summary>Reports how two builds differ in what they offer.</summary>
internal sealed record ContractReport(IReadOnlyList<ContractBreak> Breaks, IReadOnlyList<ContractAddition> Additions) : IReport
{
    public bool Compatible => Breaks.Count == 0;

    public void Draw(Screen screen)
    {
        foreach (ContractBreak each in Breaks) Draw(screen, each);
        foreach (ContractAddition each in Additions) screen.Line($"{each.Place}: {each.What}");
        if (!Compatible) screen.Line($"The new contracts break callers or the log in {Breaks.Count} places.", Tone.Bad);
        else if (Additions.Count > 0) screen.Line("The new contracts are compatible.", Tone.Good);
        else screen.Line("The contracts are the same.", Tone.Good);
    }

    internal static void Draw(Screen screen, ContractBreak broken) =>
        screen.Line($"{broken.Place}: {broken.Reason}; {broken.Mend}.", Tone.Bad);
}

/// <summary>Reports what is wrong in one manifest.</summary>
internal sealed record ManifestReport(string File, IReadOnlyList<ContractBreak> Problems) : IReport
{
    public bool Valid => Problems.Count == 0;

    public void Draw(Screen screen)
    {
        foreach (ContractBreak each in Problems) ContractReport.Draw(screen, each);
        if (Valid) screen.Line($"{File} is a valid manifest.", Tone.Good);
        else screen.Line($"{File} is wrong in {Problems.Count} places.", Tone.Bad);
    }
}
