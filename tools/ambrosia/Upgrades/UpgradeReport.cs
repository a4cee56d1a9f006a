using Ambrosia.Suspension;
using Ambrosia.Tools.Contracts;
using Ambrosia.Tools.Output;

namespace Ambrosia.Tools.Upgrades;

/// <summary>It says what becomes of something in an upgrade.</summary>
internal enum UpgradeVerdict
{
    /// <summary>It goes on, or begins anew, and nothing is lost.</summary>
    Fine,

    /// <summary>The upgrade works, and this is not in the state any more.</summary>
    Lost,

    /// <summary>The upgrade, or what waits, would fail.</summary>
    Refused,
}

/// <summary>It names one thing that an upgrade meets.</summary>
/// <param name="Place">What it is about: a field, a class, a method, a timer.</param>
/// <param name="Mend">How to mend it, or empty where nothing needs it.</param>
internal sealed record UpgradeFinding(UpgradeVerdict Verdict, string Place, string What, string Mend);

/// <summary>Reports what an upgrade to a new build would meet in the newest sound checkpoint of a log.</summary>
/// <param name="Checkpoint">The checkpoint that was looked at.</param>
/// <param name="InForce">The version of the log.</param>
/// <param name="Version">The version that the new build states.</param>
/// <param name="Suspended">A line for each suspended method and await that it could not continue, as the app would write it.</param>
/// <param name="Kept">A line for each suspended method that goes on in a body which the build keeps for it.</param>
/// <param name="Contract">How its contracts differ from those of the log.</param>
internal sealed record UpgradeReport(
    string Checkpoint, ulong Lsn, uint InForce, uint? Version, IReadOnlyList<UpgradeFinding> Findings, IReadOnlyList<string> Suspended,
    IReadOnlyList<string> Kept, ContractReport Contract) : IReport
{
    /// <summary>
    /// Returns the same with how contracts differ. An assembly may have contracts of other services, too, so one that is gone as a whole is
    /// told, and stands against nothing.
    /// </summary>
    public UpgradeReport With(ContractModel before, ContractModel now)
    {
        ContractReport all = ContractComparison.Compare(before, now);
        string[] gone = [.. before.Contracts.Select(static each => each.FullName).Except(now.Contracts.Select(static each => each.FullName))];
        return this with
        {
            Contract = all with { Breaks = [.. all.Breaks.Where(each => !gone.Contains(each.Place))] },
            Findings =
            [
                .. Findings, .. gone.Select(static each => new UpgradeFinding(UpgradeVerdict.Lost, each,
                    "the contract is gone", "keep it if this service, or one that calls it, has it")),
            ],
        };
    }

    /// <summary>Nothing that was found would be refused.</summary>
    public bool MayBeMade =>
        Suspended.Count == 0 && Contract.Compatible && Findings.All(static each => each.Verdict != UpgradeVerdict.Refused);

    public void Draw(Screen screen)
    {
        foreach (UpgradeFinding each in Findings.OrderByDescending(static each => each.Verdict))
        {
            string mend = each.Verdict != UpgradeVerdict.Fine && each.Mend.Length > 0 ? $"; {each.Mend}" : "";
            screen.Line($"{each.Place}: {each.What}{mend}.", each.Verdict switch
            {
                UpgradeVerdict.Refused => Tone.Bad, UpgradeVerdict.Lost => Tone.Warning, _ => Tone.Plain,
            });
        }
        foreach (string line in Suspended) screen.Line(line, Tone.Bad);
        if (Suspended.Count > 0) screen.Line($"For what is suspended: {BodyFindings.Mend}.");
        foreach (string line in Kept) screen.Line($"{line}.");
        foreach (ContractBreak each in Contract.Breaks) ContractReport.Draw(screen, each);
        int lost = Findings.Count(static each => each.Verdict == UpgradeVerdict.Lost);
        string loses = lost switch
        {
            0 => "", 1 => "; it loses what the line above says", _ => $"; it loses what the {lost} lines above say",
        };
        string last = MayBeMade
            ? $"Nothing in {Checkpoint} stands against an upgrade from version {InForce} to {Version}{loses}. The rehearsal has the last word."
            : $"An upgrade of {Checkpoint} with this build would be refused, or break its callers. Nothing was changed.";
        screen.Line(last, MayBeMade ? Tone.Good : Tone.Bad);
    }
}
