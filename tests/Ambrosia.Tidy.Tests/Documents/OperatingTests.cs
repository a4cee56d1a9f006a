using System.Text.RegularExpressions;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;

namespace Ambrosia.Tidy.Tests.Documents;

/// <summary>docs/operating.md tells of every exit code, and exactly of the events that a coordinator may write.</summary>
public sealed partial class OperatingTests
{
    private const string Document = "docs/operating.md";
    private const string ExitCodesPath = "ImmortalCoordinator/Ambrosia.Coordinator/Replica/ExitCodes.cs";

    [Fact]
    public void ExitCodes_All_AreExplained()
    {
        string[] codes = [
            .. Constant().Matches(Constants().Match(Repository.Read(ExitCodesPath)).Value)
                .Select(static code => code.Groups["code"].Value)];
        Assert.True(codes.Length >= 6, "the exit codes were not found");
        Repository.AssertNone(FindMissing(codes, static code => $"| {code} |"));
    }

    [Fact]
    public void Events_OfACoordinator_AreThoseOfTheTable()
    {
        SourceFile[] voiced = [.. Repository.Product.Where(
            static source => source.Path.StartsWith("ImmortalCoordinator/", StringComparison.Ordinal)
                || source.Path.StartsWith("CRA/", StringComparison.Ordinal))];
        EventDeclaration[] declared = [.. voiced.SelectMany(static source => EventDeclaration.In(source.Syntax))];
        Assert.True(declared.Length >= 45, "the events were not found");
        Repository.AssertNone(EventDeclaration.FindFaults(voiced.Select(static source => (source.Path, (SyntaxNode)source.Syntax))));
        Repository.AssertNone(FindDifferences(declared, EventDeclaration.InTable(Repository.Read(Document))));
    }

    [Fact]
    public void Planted_DifferencesOfEvents_AreFound()
    {
        EventDeclaration[] declared = [.. EventDeclaration.In(Parse("""
            static partial class E {
                [LoggerMessage(EventId = 1, EventName = "link.lost", Level = LogLevel.Warning, Message = "link {Peer}: {Why:F0}")]
                public static partial void LinkLost(this ILogger logger, string peer, string why, int leftOut);
                [LoggerMessage(EventId = 2, EventName = "link.new", Level = LogLevel.Information, Message = "new")]
                public static partial void LinkNew(this ILogger logger);
            }
            """))];
        EventDeclaration lost = new("link.lost", "warn", "link {Peer}: {Why:F0}", "peer why leftOut"),
            isNew = new("link.new", "info", "new", "");
        Assert.Equal([lost, isNew], declared);
        const string Table = "| `link.lost` | warn | `link {Peer}: {Why:F0}` | `peer` `why` `leftOut` | means |\n"
            + "| `link.new` | info | `new` | | means |\n";
        Assert.Equal(declared, EventDeclaration.InTable(Table));
        Assert.Empty(FindDifferences(declared, declared));
        Assert.Equal(2, FindDifferences([lost, isNew], [lost with { Level = "info" }, isNew]).Count());
        Assert.Equal(["docs/operating.md: no coordinator has link.lost as it is listed"], FindDifferences([isNew], [lost, isNew]));
        Assert.Equal(["docs/operating.md: does not list link.lost as it is declared"], FindDifferences([lost, isNew], [isNew]));
    }

    [Fact]
    public void Planted_FaultsOfEvents_AreFound()
    {
        const string Head = "[LoggerMessage(EventId = 1, EventName = \"link.lost\", Level = LogLevel.Warning, Message = \"{Why}\")] ";
        Assert.Empty(FaultsOf($"{Head} void A(ILogger logger, string why);"));
        Assert.Single(FaultsOf($"{Head} void A(ILogger logger, string what);"));
        Assert.Equal(2, FaultsOf($"{Head} void A(ILogger logger, string why); {Head} void B(ILogger logger, string why);").Count());
        Assert.Single(FaultsOf($"{Head} void A(ILogger logger, string why, string text);"));
        Assert.Single(FaultsOf($"{Head.Replace("link.lost", "Lost", StringComparison.Ordinal)} void A(ILogger logger, string why);"));
        Assert.Single(FaultsOf("void A() => _logger.LogWarning(\"x\");"));
        Assert.Single(FaultsOf("void A() => logger.Log(LogLevel.Error, \"x\");"));
    }

    [Fact]
    public void Planted_Code_IsFound() => Assert.Single(FindMissing(["99"], static code => $"| {code} |"));

    private static IEnumerable<string> FaultsOf(string member) =>
        EventDeclaration.FindFaults([("A.cs", Parse($"static partial class E {{ {member} }}"))]);

    private static SyntaxNode Parse(string text) => CSharpSyntaxTree.ParseText(text).GetRoot();

    /// <summary>Name, level, text and fields are the same on both sides.</summary>
    private static IEnumerable<string> FindDifferences(IEnumerable<EventDeclaration> declared, IEnumerable<EventDeclaration> listed) =>
        declared.Except(listed).Select(static one => $"{Document}: does not list {one.Name} as it is declared")
            .Concat(listed.Except(declared).Select(static one => $"{Document}: no coordinator has {one.Name} as it is listed"));

    private static IEnumerable<string> FindMissing(IEnumerable<string> all, Func<string, string> written) =>
        all.Where(one => !Repository.Read(Document).Contains(written(one), StringComparison.Ordinal))
            .Select(one => $"{Document}: does not tell of {one}");

    [GeneratedRegex(@"const int [^;]*;")]
    private static partial Regex Constants();

    [GeneratedRegex(@"= (?<code>\d+)")]
    private static partial Regex Constant();
}
