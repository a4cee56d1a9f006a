using System.Text.RegularExpressions;
using Microsoft.CodeAnalysis.CSharp.Syntax;

namespace Ambrosia.Tidy.Tests.Form;

/// <summary>
/// What a source may do with locks: the product takes ranked ones only, each class of it has a rank of its name, and what threads do
/// instead of taking a lock is listed here.
/// </summary>
internal static partial class LockRules
{
    /// <summary>The one file of the product that uses the locks of the framework.</summary>
    internal const string Home = "protocol/Ambrosia.Protocol/Locking/RankedLocks.cs";

    private static readonly HashSet<string> s_raw = ["Lock", "Monitor", "SpinLock", "SemaphoreSlim", "Semaphore", "Mutex",
        "ReaderWriterLock", "ReaderWriterLockSlim"];

    /// <summary>"path: what" → why it is no lock that needs a rank. An entry that is no longer needed must go.</summary>
    internal static readonly Dictionary<string, string> Excused = new()
    {
        ["ImmortalCoordinator/Ambrosia.Log/Commit/LogWriter.cs: turns a word from 0 to 1"] =
            "The commit's token is tried and never waited for. The thread that gives it back may be another than the one that took it.",
        ["codegen/Ambrosia.Generators/Determinism/KnownBodies.cs: turns a word from 0 to 1"] =
            "It is tried and never waited for. It runs in the compiler, which has no ranked locks.",
        ["codegen/Ambrosia.Generators/Determinism/DeterminismAnalyzer.cs: has a lock statement; take a RankedLock"] =
            "It runs in the compiler, which has no ranked locks. The compiler's own are all that is taken under it.",
        ["CRA/Links/LinkEnding.cs: turns a word from 0 to 1"] = "It says who was first, once, and is never given back.",
        ["ImmortalCoordinator/Ambrosia.Coordinator/Hosting/CommitPump.cs: spins"] =
            "It waits until writers have left a page. Whoever comes here holds nothing but the pump's lock: LogWriter.Begin checks that.",
        ["CRA/Streams/TlsHandshake.cs: spins"] = "It waits for the task of a handshake, before the link has a thread or a lock.",
    };

    /// <summary>What a source of the product does beside the ranked locks.</summary>
    internal static IEnumerable<Finding> FindRaw(SourceFile source)
    {
        if (source.Path == Home) yield break;
        foreach (LockStatementSyntax _ in source.Syntax.DescendantNodes().OfType<LockStatementSyntax>())
            yield return new Finding(source.Path, "has a lock statement; take a RankedLock");
        foreach (IdentifierNameSyntax name in source.Syntax.DescendantNodes().OfType<IdentifierNameSyntax>().Where(IsRaw))
            yield return new Finding(source.Path, $"uses {name.Identifier.Text}; take a RankedLock");
        if (source.Text.Contains("MethodImplOptions.Synchronized", StringComparison.Ordinal))
            yield return new Finding(source.Path, "has a synchronized method; take a RankedLock");
        if (Turned().IsMatch(source.Text)) yield return new Finding(source.Path, "turns a word from 0 to 1");
        if (Spun().IsMatch(source.Text)) yield return new Finding(source.Path, "spins");
    }

    /// <summary>Ranks that no lock has, and locks whose rank does not bear their class's name.</summary>
    internal static IEnumerable<Finding> FindMisnamed(IEnumerable<SourceFile> product, IEnumerable<string> ranks)
    {
        HashSet<string> unused = [.. ranks];
        foreach (SourceFile source in product.Where(static source => source.Path != Home && source.Text.Contains("LockRank.")))
        {
            foreach (MemberAccessExpressionSyntax use in source.Syntax.DescendantNodes().OfType<MemberAccessExpressionSyntax>()
                .Where(static use => use.Expression.ToString() == "LockRank"))
            {
                string rank = use.Name.Identifier.Text;
                string owner = use.Ancestors().OfType<TypeDeclarationSyntax>().First().Identifier.Text;
                if (owner != rank) yield return new Finding(source.Path, $"{owner} has a lock of the rank {rank}, which is another's");
                else if (!unused.Remove(rank)) yield return new Finding(source.Path, $"a second lock of the rank {rank}");
            }
        }
        foreach (string rank in unused) yield return new Finding(Home, $"no lock has the rank {rank}");
    }

    private static bool IsRaw(IdentifierNameSyntax name) =>
        s_raw.Contains(name.Identifier.Text) && name.Parent is not NameColonSyntax
        && (name.Parent is not MemberAccessExpressionSyntax member || member.Expression == name)
        && (name.Parent is not InvocationExpressionSyntax call || call.Expression != name);

    [GeneratedRegex(@"Interlocked\.CompareExchange\(ref \w+, 1, 0\)")]
    private static partial Regex Turned();

    [GeneratedRegex(@"\bSpinWait\b")]
    private static partial Regex Spun();
}
