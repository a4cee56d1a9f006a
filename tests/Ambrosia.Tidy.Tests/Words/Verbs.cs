namespace Ambrosia.Tidy.Tests.Words;

/// <summary>
/// The verbs by which a sentence is told from a fragment. A crude list: a verb that is missing makes a finding of a good sentence, and is
/// then entered here.
/// </summary>
internal static class Verbs
{
    /// <summary>Forms that are finite wherever they stand.</summary>
    private static readonly HashSet<string> s_finite = Split("""
        is are was were am isn't aren't wasn't weren't has have had hasn't haven't does do did doesn't don't didn't can could may might must
        shall should will would cannot can't couldn't mustn't needn't shouldn't won't wouldn't
        came went gave took became began wrote threw fell grew knew saw ran broke spoke chose drew forgot rose fits
        """);

    /// <summary>Verbs whose form with an s is hardly ever a noun.</summary>
    private static readonly string[] s_clear = [.. Split("""
        abandon abort absorb accept accompany achieve acknowledge acquire act adapt add adjust adopt advance advise agree aim allocate allow
        announce append apply arrange arrive ask assert assign assume attach authenticate avoid await balance base become begin behave believe
        belong bind boot bring cancel capture carry catch cease choose cite clean clear close collect combine come compare compile complete
        compute concern confirm connect consider consist consult consume contain continue contradict convert correspond create deal decide
        declare decode decrease define delete deliver demand depend derive describe deserve destroy detach detect determine die differ
        disable disagree disappear discard disconnect discover dispose distinguish divide do emit employ enable encode enforce ensure enter
        enumerate equal exceed exclude execute exist expand expect expire explain expose express extend extract fail fall feed fetch find
        finish follow forbid force forget free fulfil gather generate get give go govern grant grow happen have hear hide identify ignore
        implement imply include increase increment indicate inform inherit initialize insert insist inspect instruct invoke keep know lack
        lay learn leave lend let listen lose maintain make mean meet mend merge mention mind miss mix modify multiply negotiate notify obey
        obtain occur open overflow overlap overtake overwrite own parse pay perform permit persist pick point possess postpone precede prefer
        prepare present preserve prevent proceed produce promote prove provide publish pull put raise reach react receive recognize recover
        recycle reduce refer reflect refresh refuse regenerate register reject relate rely remain remember remind remove rename render reopen
        repair repeat replace represent require resemble reset resolve respond restart restore resume retain retire retry retrieve reuse
        reveal rotate round-trip save say scan see seek seem select send separate serialize serve settle share shrink shut sit skip sleep solve
        sort speak specify spend spread stay stand stem submit succeed suffice suggest survive suspend swallow switch take talk teach tell
        tend terminate think throw touch transform translate travel treat trigger trim truncate trust try turn understand undo unwind
        validate vanish vary verify violate vouch wake want warn weigh widen win wish withdraw wonder wrap yield accumulate anticipate
        bar beat bear blame borrow bump coincide collapse comprise conflict construct count-down cope correlate deduce defer degrade
        dereference deserialize discern dominate drain elect embed encrypt decrypt escape evaluate evict exchange exhaust expel fold
        foresee hint host imitate impose infer instantiate intend interpret introduce invalidate invent irritate judge justify lengthen
        lift lower matter normalize nudge obscure observe omit outlive override oversee penalize pertain populate prepend presume
        promise propagate pursue qualify quit quote re-read re-run reconnect reconstruct redo reproduce rethrow revoke rewrite rewind
        satisfy simplify simulate sit spare spoil stall start stop strip subscribe subtract swap synchronize terminate toggle tolerate
        transfer transition unlock unpack update upgrade utilize waste withhold withstand write zero need wait state show look read hold use
        """)];

    /// <summary>Verbs whose form with an s is a noun as well: their surroundings decide.</summary>
    private static readonly string[] s_ambiguous = [.. Split("""
        address answer attempt back benefit block bound branch break buffer build cache call cast cause challenge change charge check claim
        climb code command comment commit contract control copy cost count cover crash cross cut cycle damage date delay design detail dial
        digest direct display document double doubt draw drive drop dump effect end error estimate exit experience feature field figure file
        fill filter fire fit fix flag flash float flow flush focus force fork form format forward frame function gap grasp group guard guess
        guide halt hand handle hang hash head help hit hook image impact index input interest interrupt issue item join jump key kill
        kind land last layer lead lease leak level license lie light like limit line link list live load lock log loop love map mark
        mask match measure miss model monitor mount move name nest note notice number object offer operate order output own pace pack
        page pair park part pass patch pause perform phrase piece pin pipe place plan plant play plug pool port position post print probe
        process profile program project proof pump push query question queue quiet range rank rate reason rebuild record reference
        release rent reply replay report request rescue research reserve rest result return reward right ring risk roll root round route
        row rule run rush sample scale schedule score seal search secure sense sentence service set shape shift sign signal size slice
        slot snapshot sound source space span split stage stamp stay step store stream stress stretch strike structure study sum
        supply support surprise surround survey sweep table tag target task test text thread tick tie time title trace track trade train trap
        trip type value view visit vote walk warrant watch wave way will wire witness word zip batch spell bridge boost chain
        checkpoint fence route shard peer stand sit repeat say
        """)];

 private static readonly HashSet<string> s_clearThird = [.. s_clear.Select(Third)];

 private static readonly HashSet<string> s_ambiguousThird = [.. s_ambiguous.Select(Third).Except(s_clearThird)];

 private static readonly HashSet<string> s_plain = [.. s_clear, .. s_ambiguous];

 public static bool IsFinite(string word) => s_finite.Contains(word) || s_clearThird.Contains(word);

 public static bool MayBeFinite(string word) => s_ambiguousThird.Contains(word);

    /// <summary>The form without an ending: finite behind a plural and as a request.</summary>
 public static bool IsPlain(string word) => s_plain.Contains(word);

 private static string Third(string verb) =>
        verb is "do" or "go" ? verb + "es"
        : verb is "have" ? "has"
        : verb.EndsWith('y') && !"aeiou".Contains(verb[^2], StringComparison.Ordinal) ? verb[..^1] + "ies"
        : verb.EndsWith('s') || verb.EndsWith('x') || verb.EndsWith('z') || verb.EndsWith("ch", StringComparison.Ordinal)
            || verb.EndsWith("sh", StringComparison.Ordinal) || verb is "zero" or "echo" ? verb + "es"
        : verb + "s";

 private static HashSet<string> Split(string words) => [.. words.Split([' ', '\n'], StringSplitOptions.RemoveEmptyEntries)];
}
