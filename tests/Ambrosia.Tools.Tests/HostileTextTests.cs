using System.Globalization;
using System.Text.Encodings.Web;
using System.Text.Json;
using System.Text.Json.Nodes;
using Ambrosia.Coordinator.Hosting;
using Ambrosia.Log.Files;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Records;
using Ambrosia.Protocol.Runs;
using Ambrosia.Tools.Commands;
using Ambrosia.Tools.Output;
using CRA.Catalog;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.CSharp.Syntax;
using Microsoft.Extensions.Logging.Abstractions;

namespace Ambrosia.Tools.Tests;

/// <summary>
/// Every character that a terminal or a compiler obeys, in every place that a log, a manifest, an incident and a coordinator's answer can
/// hold: none reaches what a command shows, or a source file.
/// </summary>
public sealed class HostileTextTests : IDisposable
{
    /// <summary>An end of a line to the compiler and to no terminal, with code behind it.</summary>
    private const string Code = "\u2028public class E{[System.Runtime.CompilerServices.ModuleInitializer]public static void R(){}}//";

    private static readonly string s_hostile = string.Concat(Enumerable.Range(0, 0x11_0000)
        .Where(static code => code is < 0xD800 or > 0xDFFF && IsHostile(code)).Select(char.ConvertFromUtf32));

    private readonly TemporaryDirectory _temporary = new();
    private readonly StateLog _states = new();
    private readonly string _log;
    private ulong _failure;

    public HostileTextTests()
    {
        _log = _temporary.Of("log");
        Make();
    }

    public void Dispose()
    {
        _states.Dispose();
        _temporary.Dispose();
    }

    public static TheoryData<string> Commands => new("""
        log LOG
        log LOG --pages
        log LOG --records --full
        log LOG --records --json --full
        log LOG --records --method X
        log LOG --records --kind failure
        log LOG --records --sender Q
        verify LOG
        state STATE
        state STATE --json
        state STATE --path _accounts
        state STATE --path Q
        state STATE --diff 2
        state STATE --diff 2 --json
        suspended LOG
        contract check CONTRACT
        contract check CONTRACT OTHER
        quarantine list LOG
        quarantine list LOG --json
        quarantine list LOG --contract CONTRACT
        quarantine drop LOG 4160:1
        promote LOG r0
        retire LOG r0
        stop LOG
        checkpoint LOG
        forget-peer LOG ada
        status --catalog CATALOG
        status --catalog CATALOG --json
        cut LOG --around key:nothing --out OUT
        cut LOG --around end --out OUT --json
        cut LOG --around end --out OUT --mask nothing
        cut LOG --around end --out OUT --mask $failure,$key
        log LOG --contract CONTRACT --records --full
        generate cpp CONTRACT --output OUT
        log Q
        nonsenseQ
        log LOG --head Q
        state LOG --at key:Q --app true
        certs --ca OUT --name Q
        doctor Q
        upgrade check LOG --build Q
        dev Q=Q
        catalog copy Q Q
        replay LOG --app true --until Q
        rollback LOG --build Q
        """.Split('\n'));

    /// <summary>Each command, alone and as a terminal sees it, with all hostile characters at once.</summary>
    [Theory]
    [MemberData(nameof(Commands))]
    public void Command_OnHostileTexts_ShowsNoneOfThem(string command)
    {
        using var coordinator = new FakeCoordinator(_log, "r0", Answer);
        foreach (bool isTerminal in (bool[])[false, true])
        {
            string[] args = [.. command.Split(' ').Select(Word)];
            using var output = new StringWriter { NewLine = "\n" };
            using var error = new StringWriter { NewLine = "\n" };
            int code = Tool.Run(args, new ToolStreams(output, error, isTerminal));
            Assert.True(output.ToString().Length + error.ToString().Length > 0, $"{code}: nothing is shown");
            AssertHarmless(output.ToString(), isTerminal);
            AssertHarmless(error.ToString(), isTerminal);
            foreach (string file in Directory.EnumerateFiles(_temporary.Path, "*.h", SearchOption.AllDirectories))
                AssertHarmless(File.ReadAllText(file), mayHaveColours: false);
            if (Directory.Exists(_temporary.Of("out"))) Directory.Delete(_temporary.Of("out"), recursive: true);
        }
    }

    /// <summary>The negative control: these are places in which the texts stand, and the commands do show them.</summary>
    [Theory]
    [InlineData("log LOG --records --full", 4)]
    [InlineData("quarantine list LOG", 1)]
    [InlineData("status --catalog CATALOG", 3)]
    [InlineData("state STATE", 1)]
    public void Command_OnHostileTexts_ShowsThemEscaped(string command, int count)
    {
        using var coordinator = new FakeCoordinator(_log, "r0", Answer);
        ToolRun run = ToolRun.Of([.. command.Split(' ').Select(Word)]);
        Assert.True(run.Output.Split(@"\u202e").Length > count, run.Output + run.Error);
    }

    [Fact]
    public void CutTest_OfAFailureThatEndsALine_IsOurCodeAlone()
    {
        string file = _temporary.Of("Incident1.cs");
        ToolRun run = ToolRun.Of(
            "cut", _log, "--around", $"{_failure}", "--out", _temporary.Of("out\u2028\"); int x = 1; //"), "--test", file,
            "--class", "Shop.Bank",
            "--expect", "_accounts[\"\u2028\\\\\"].Balance=\"\u2029\"");
        Assert.True(run.Code == ToolExit.Fine, run.Error);
        string source = File.ReadAllText(file);
        AssertHarmless(source, mayHaveColours: false);
        Assert.True(source.Contains("ModuleInitializer"), source);
        var tree = (CompilationUnitSyntax)CSharpSyntaxTree.ParseText(source).GetRoot();
        Assert.DoesNotContain(tree.GetDiagnostics(), static each => each.Severity == DiagnosticSeverity.Error);
        Assert.Equal(["Ambrosia", "Xunit"], tree.Usings.Select(static each => $"{each.Name}"));
        var type = Assert.IsType<ClassDeclarationSyntax>(Assert.Single(tree.Members));
        Assert.Equal("Incident1", type.Identifier.Text);
        var test = Assert.IsType<MethodDeclarationSyntax>(Assert.Single(type.Members));
        Assert.Equal(2, test.Body!.Statements.Count);
        Assert.All(type.GetLeadingTrivia(), static each => Assert.True(
            each.IsKind(SyntaxKind.SingleLineDocumentationCommentTrivia) || each.IsKind(SyntaxKind.EndOfLineTrivia), $"{each.Kind()}"));
    }

    /// <summary>A text of the manifest that looks like the end of its literal ends nothing.</summary>
    [Fact]
    public void GeneratedHeader_OfAManifestWithTheEndOfALiteral_HoldsItAsText()
    {
        string manifest = _temporary.Of("Odd.contract.json");
        File.WriteAllText(manifest, Manifest.Json
            .Replace("\"assembly\":\"Shop\"", "\"assembly\":\"x)json\\\"; #error\"", StringComparison.Ordinal)
            .Replace("{\"format\"", "{\"odd\":[\"x)json\",1],\"format\"", StringComparison.Ordinal));
        Directory.CreateDirectory(_temporary.Of("cpp"));
        ToolRun run = ToolRun.Of("generate", "cpp", manifest, "--output", _temporary.Of("cpp"));
        Assert.True(run.Code == ToolExit.Fine, run.Output + run.Error);
        string header = File.ReadAllText(Assert.Single(Directory.EnumerateFiles(_temporary.Of("cpp"))));
        var literal = new System.Text.RegularExpressions.Regex(@"\GR""json\((?<raw>.*?)\)json""\s*|\G""(?<usual>(?:[^""\\]|\\.)*)""\s*",
            System.Text.RegularExpressions.RegexOptions.Singleline);
        int at = header.IndexOf("::manifest =", StringComparison.Ordinal) + "::manifest =".Length;
        while (char.IsWhiteSpace(header[at])) at++;
        string held = "";
        for (System.Text.RegularExpressions.Match match; (match = literal.Match(header, at)).Success; at += match.Length)
            held += match.Groups["raw"].Success ? match.Groups["raw"].Value
                : match.Groups["usual"].Value.Replace("\\\"", "\"", StringComparison.Ordinal).Replace(@"\\", @"\", StringComparison.Ordinal)
                    .Replace(@"\012", "\n", StringComparison.Ordinal);
        Assert.Equal(';', header[at]);
        Assert.Equal(File.ReadAllText(manifest), held);
    }

    private string Word(string word) => word switch
    {
        "LOG" => _log,
        "STATE" => _states.Directory,
        "OUT" => _temporary.Of("out"),
        "CATALOG" => _temporary.Of("catalog"),
        "CONTRACT" => _temporary.Of("Hostile.contract.json"),
        "OTHER" => _temporary.Of("Other.contract.json"),
        _ => word.Replace("Q", "\u001b[31m\u202e\u2028\ud83d", StringComparison.Ordinal),
    };

    private string Answer(JsonObject request)
    {
        string text = $"{s_hostile}. Do this: {s_hostile}";
        return (string?)request["command"] switch
        {
            "status" => Line(new JsonObject
            {
                ["role"] = "primary",
                ["log"] = new JsonObject { ["durable"] = 5, ["held"] = new JsonObject { ["segment"] = text, ["bytes"] = 4 } },
                ["links"] = new JsonArray(
                    new JsonObject { ["peer"] = text, ["state"] = "stopped", ["lastEnd"] = text },
                    new JsonObject { ["peer"] = "ada", ["state"] = text, ["lastEnd"] = text }),
                ["outboxes"] = new JsonArray(new JsonObject { ["to"] = text, ["calls"] = 5, ["keptBytes"] = 4 }),
                ["spill"] = new JsonObject { ["bytes"] = 1, ["isAwaited"] = true },
                ["checkpoint"] = new JsonObject { ["lastFailure"] = text }, ["waitsBecause"] = text,
                ["upgrade"] = new JsonObject { ["stage"] = "made", ["app"] = text },
                ["waitsForApp"] = new JsonObject { ["for"] = "record", ["lsn"] = 1, ["seconds"] = 4 },
            }),
            "quarantine" when (string?)request["action"] == "list" => Line(new JsonObject
            {
                ["message"] = text, ["kind"] = text, ["caller"] = text, ["method"] = 1, ["why"] = text, ["time"] = 1,
            }) + Line(new JsonObject { ["count"] = 1 }),
            _ => Line(new JsonObject { ["error"] = text }),
        };
    }

    private static string Line(JsonObject json) => json.ToJsonString() + "\n";

    private void Make()
    {
        using (LogMaker log = LogMaker.Start(_log))
        {
            log.Begin();
            log.Peer(1, "ada");
            log.Commit();
            log.Run(MessageKind.Fork, 1, Message.Of(Manifest.Two, (ref CborWriter to) =>
            {
                to.WriteInt64(4);
                to.WriteString(s_hostile);
            }));
            log.Keyed(1, Message.OfKeyed(Manifest.Two, System.Text.Encoding.UTF8.GetBytes("\u202e\u001b[2J"), []));
            log.Keyed(1, Message.OfKeyed(Manifest.Two, [0xED, 0xA0, 0x80], [])); // half a surrogate
            log.Append(new NondetResultRecord(1, true, Message.Arguments(
                static (ref CborWriter to) => new FailureInfo(s_hostile, s_hostile, new FailureInfo(s_hostile, s_hostile)).Write(ref to))));
            log.Commit();
            _failure = log.Run(MessageKind.Failure, 1, Message.OfCall(Manifest.Answer, 1, Message.Arguments(
                static (ref CborWriter to) => new FailureInfo("Odd\u2029", $"no account '{Code}' {s_hostile}", null).Write(ref to)))).Value;
            log.Mark();
            log.Checkpoint();
        }
        Directory.CreateDirectory(Path.Combine(_log, "contracts"));
        string manifest = HostileManifest();
        File.WriteAllText(Path.Combine(_log, "contracts", "0123456789abcdef.json"), manifest);
        File.WriteAllText(_temporary.Of("Hostile.contract.json"), manifest);
        File.WriteAllText(_temporary.Of("Other.contract.json"), Manifest.Json);
        File.WriteAllText(Path.Combine(_log, "divergence.r0"), new JsonObject
        {
            ["time"] = 1, ["replica"] = "r0", ["appVersion"] = 1, ["lsn"] = 4096, ["index"] = null, ["build"] = s_hostile, ["from"] = 1,
            ["to"] = 2, ["ofState"] = true, ["why"] = s_hostile,
        }.ToJsonString());
        _states.MakeCheckpoint(8_192, StateLog.Bank((s_hostile, 1), ("bob", 2)));
        _states.MakeCheckpoint(4_096, StateLog.Bank((s_hostile, 3)));
        MakeCatalog();
    }

    private void MakeCatalog()
    {
        string directory = Directory.CreateDirectory(_temporary.Of("catalog")).FullName;
        ICatalog catalog = CatalogOpening.Open(
            CatalogPlace.Parse(directory), new PosixFileSystem(), static to => to.Clear(), NullLogger.Instance);
        catalog.Publish(new CatalogEntry(new InstanceId("counter"), Guid.NewGuid(), _log, new Epoch(1), []));
        catalog.Publish(new CatalogEntry(new InstanceId("gone"), Guid.NewGuid(), "/no/such\u202e\u2028/log", new Epoch(1), []));
        File.WriteAllText(Path.Combine(directory, "odd\u001b[31m\u202e.1"), "");
        File.WriteAllText(Path.Combine(directory, "broken.1"), "\u001b[2J");
    }

    /// <summary>A manifest of any names, as somebody else may hand out with a log.</summary>
    private static string HostileManifest()
    {
        JsonNode manifest = JsonNode.Parse(Manifest.Json)!;
        manifest["assembly"] = s_hostile;
        foreach (JsonNode? method in manifest["contracts"]![0]!["methods"]!.AsArray())
        {
            if ((string?)method!["name"] != "Answer") method["name"] = $"{method["name"]}{s_hostile}";
            foreach (JsonNode? parameter in method["parameters"]!.AsArray()) parameter!["name"] = $"{parameter["name"]}{s_hostile}";
        }
        manifest["enums"]![0]!["members"]![0]!["name"] = s_hostile;
        return manifest.ToJsonString(new JsonSerializerOptions { Encoder = JavaScriptEncoder.UnsafeRelaxedJsonEscaping });
    }

    private static void AssertHarmless(string text, bool mayHaveColours)
    {
        if (mayHaveColours) text = System.Text.RegularExpressions.Regex.Replace(text, "\u001b\\[[0-9;]*m", "");
        foreach (System.Text.Rune rune in text.EnumerateRunes())
            if ((IsHostile(rune.Value) && rune.Value is not '\n') || rune.Value == 0xFFFD)
                Assert.Fail(
                    $"U+{rune.Value:X4} in: {string.Concat(text.Select(static c => c is >= ' ' and <= '~' ? $"{c}" : $"<{(int)c:x}>"))}");
    }

    private static bool IsHostile(int code) => code is not ' ' && CharUnicodeInfo.GetUnicodeCategory(code) is
        UnicodeCategory.Control or UnicodeCategory.Format or UnicodeCategory.LineSeparator or UnicodeCategory.ParagraphSeparator
        or UnicodeCategory.SpaceSeparator or UnicodeCategory.Surrogate;
}
