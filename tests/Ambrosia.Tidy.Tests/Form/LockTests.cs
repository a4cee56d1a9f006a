using System.Globalization;
using System.Text.RegularExpressions;
using Microsoft.CodeAnalysis.CSharp.Syntax;

namespace Ambrosia.Tidy.Tests.Form;

/// <summary>
/// All locks of the product have a rank, and docs/architecture.md has the table of the ranks, in their order, with what each may be held
/// over, as the code has it.
/// </summary>
public sealed partial class LockTests
{
    private const string DocumentPath = "docs/architecture.md";

    private sealed record Rank(string Name, int Number, string HeldOver);

    [Fact]
    public void Locks_OfTheProduct_HaveRanks() => Repository.AssertNone(
        Repository.Product.SelectMany(LockRules.FindRaw).Where(static found => !LockRules.Excused.ContainsKey(found.ToString())));

    [Fact]
    public void Excuses_AllOfThem_AreStillNeeded() => Repository.AssertNone(
        LockRules.Excused.Keys.Except(Repository.Product.SelectMany(LockRules.FindRaw).Select(static found => found.ToString()))
            .Select(static key => $"{key}: needs no excuse any more"));

    [Fact]
    public void Ranks_EachOfThem_IsThatOfOneLockOfItsName() =>
        Repository.AssertNone(LockRules.FindMisnamed(Repository.Product, OfCode(Home()).Select(static rank => rank.Name)));

    [Fact]
    public void Table_OfTheOrder_IsThatOfTheCode()
    {
        Rank[] code = OfCode(Home()), document = OfDocument(Repository.Read(DocumentPath));
        Assert.NotEmpty(code);
        Assert.Equal(code.OrderBy(static rank => rank.Number), document);
        Assert.Equal(code.Length, code.DistinctBy(static rank => rank.Number).Count());
    }

    [Theory]
    [InlineData("class A { readonly Lock _gate = new(); }")]
    [InlineData("class A { readonly System.Threading.Lock _gate = new(); }")]
    [InlineData("class A { object _gate = new Lock(); }")]
    [InlineData("class A { void B() { lock (this) { } } }")]
    [InlineData("class A { void B() { Monitor.Enter(this); } }")]
    [InlineData("class A { SemaphoreSlim? _one = new(1); }")]
    [InlineData("class A { [MethodImpl(MethodImplOptions.Synchronized)] void B() { } }")]
    [InlineData("class A { int _taken; bool B() => Interlocked.CompareExchange(ref _taken, 1, 0) == 0; }")]
    [InlineData("class A { void B() { var spin = new SpinWait(); } }")]
    public void Lock_PlantedRaw_IsFound(string text) => Assert.NotEmpty(LockRules.FindRaw(new SourceFile("CRA/A.cs", text)));

    [Theory]
    [InlineData("class A { readonly RankedLock _gate = new(LockRank.A); void B() { using (_gate.Enter()) { } } }")]
    [InlineData("class A { bool B(IFile file) => file.Lock() && Lock(file); bool Lock(IFile file) => this.Lock(file); }")]
    public void Lock_PlantedRanked_IsNot(string text) => Assert.Empty(LockRules.FindRaw(new SourceFile("CRA/A.cs", text)));

    [Fact]
    public void Rank_PlantedTwiceOrOfAnother_IsFound()
    {
        SourceFile source = new("CRA/A.cs", """
            class A { RankedLock _a = new(LockRank.A), _b = new(LockRank.A); }
            class B { RankedLock _a = new(LockRank.A); }
            """);
        Assert.Equal(["CRA/A.cs: a second lock of the rank A", "CRA/A.cs: B has a lock of the rank A, which is another's",
            $"{LockRules.Home}: no lock has the rank C"],
            LockRules.FindMisnamed([source], ["A", "C"]).Select(static found => found.ToString()));
    }

    [Fact]
    public void Table_PlantedDifference_IsFound()
    {
        SourceFile code = new("CRA/A.cs", """
            enum LockRank { A = 1, B = 2 }
            class C
            {
                HeldOver MadeFor(LockRank rank) => rank switch { LockRank.B => HeldOver.Wait | HeldOver.CallOut, _ => HeldOver.Nothing };
            }
            """);
        Assert.Equal(OfCode(code), OfDocument("| 1 | `A` | x | |\n| 2 | `B` | x | wait, call out: y |\n"));
        Assert.NotEqual(OfCode(code), OfDocument("| 1 | `A` | x | |\n| 2 | `B` | x | wait: y |\n"));
        Assert.NotEqual(OfCode(code), OfDocument("| 2 | `A` | x | |\n| 3 | `B` | x | wait, call out: y |\n"));
    }

    private static SourceFile Home() => Repository.Sources.Single(static source => source.Path == LockRules.Home);

    private static Rank[] OfCode(SourceFile source)
    {
        Dictionary<string, string> madeFor = [];
        foreach (SwitchExpressionArmSyntax arm in source.Syntax.DescendantNodes().OfType<SwitchExpressionArmSyntax>())
        {
            string acts = string.Join(", ", Act().Matches(arm.Expression.ToString()).Select(static act => Words(act.Groups[1].Value)));
            foreach (Match rank in Named().Matches(arm.Pattern.ToString())) madeFor[rank.Groups[1].Value] = acts;
        }
        return [.. from declaration in source.Syntax.DescendantNodes().OfType<EnumDeclarationSyntax>()
                   where declaration.Identifier.Text == "LockRank"
                   from member in declaration.Members
                   let name = member.Identifier.Text
                   select new Rank(name, int.Parse(member.EqualsValue!.Value.ToString(), CultureInfo.InvariantCulture),
                       madeFor.GetValueOrDefault(name, ""))];
    }

    private static Rank[] OfDocument(string text) =>
        [.. Row().Matches(text).Select(static row => new Rank(row.Groups["name"].Value,
            int.Parse(row.Groups["number"].Value, CultureInfo.InvariantCulture), row.Groups["over"].Value.Split(':')[0].Trim()))];

    /// <summary>CallOut is "call out" in the document.</summary>
    private static string Words(string act) => Inner().Replace(act, " $1").ToLowerInvariant();

    [GeneratedRegex(@"HeldOver\.(\w+)")]
    private static partial Regex Act();

    [GeneratedRegex(@"LockRank\.(\w+)")]
    private static partial Regex Named();

    [GeneratedRegex(@"(?<=[a-z])([A-Z])")]
    private static partial Regex Inner();

    [GeneratedRegex(@"^\| (?<number>\d+) \| `(?<name>\w+)` \|[^|]*\|(?<over>[^|]*)\|\s*$", RegexOptions.Multiline)]
    private static partial Regex Row();
}
