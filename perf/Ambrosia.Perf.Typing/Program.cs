using System.Collections.Immutable;
using System.Diagnostics;
using Ambrosia.Generators;
using Ambrosia.Perf.Typing;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.Diagnostics;
using Microsoft.CodeAnalysis.Text;

// Measures what an editor does behind an edit of a handler's body, in an app of 2,000 methods: the generators run, and the document that
// was edited is judged, by the compiler alone and with the analyzers. Usage: Ambrosia.Perf.Typing [EDITS [ROUNDS]]; so often all bodies are
// bound, and all files judged, before the edits.
int edits = args.Length > 0 ? int.Parse(args[0], System.Globalization.CultureInfo.InvariantCulture) : 30;
int rounds = args.Length > 1 ? int.Parse(args[1], System.Globalization.CultureInfo.InvariantCulture) : 0;
ImmutableArray<DiagnosticAnalyzer> analyzers = [.. typeof(ImmortalGenerator).Assembly.GetTypes()
    .Where(static type => !type.IsAbstract && typeof(DiagnosticAnalyzer).IsAssignableFrom(type))
    .Select(static type => (DiagnosticAnalyzer)Activator.CreateInstance(type)!)];
for (int round = 0; round < rounds; round++)
{
    Figures bound = new(), read = new();
    CSharpGeneratorDriver.Create([new ImmortalGenerator().AsSourceGenerator()], parseOptions: BigApp.Parse)
        .RunGeneratorsAndUpdateCompilation(BigApp.Compile(), out Compilation fresh, out _);
    bound.Take(false, () => BigApp.BindAll(fresh.Clone()));
    read.Take(false, () => fresh.Clone().WithAnalyzers(analyzers).GetAnalyzerDiagnosticsAsync().GetAwaiter().GetResult());
    Console.WriteLine($"all bodies bound: {bound.Last}; all analyzers on all files: {read.Last}");
}
CSharpCompilation app = BigApp.Compile();
GeneratorDriver driver = CSharpGeneratorDriver.Create([new ImmortalGenerator().AsSourceGenerator()], parseOptions: BigApp.Parse);
var own = new SortedDictionary<string, double>(StringComparer.Ordinal);
Figures generated = new(), alone = new(), judged = new();

for (int edit = -3; edit < edits; edit++) // the first ones are not counted
{
    SyntaxTree tree = app.SyntaxTrees[edit % 5 == 0 ? 0 : 1 + Math.Abs(edit) * 7 % BigApp.Classes];
    SourceText text = tree.GetText();
    int at = text.ToString().IndexOf("(int a) {", StringComparison.Ordinal) + "(int a) {".Length;
    SyntaxTree edited = tree.WithChangedText(text.WithChanges(new TextChange(new TextSpan(at, 0), $" a += {edit + 10};")));
    app = app.ReplaceSyntaxTree(tree, edited);
    Compilation? whole = null;
    bool counts = edit >= 0;
    generated.Take(counts, () => driver = driver.RunGeneratorsAndUpdateCompilation(app, out whole, out _));
    alone.Take(counts, () => Errors(whole!.Clone().GetSemanticModel(edited).GetDiagnostics()));
    judged.Take(counts, () =>
    {
        CompilationWithAnalyzers with = whole!.Clone().WithAnalyzers(analyzers, new CompilationWithAnalyzersOptions(
            new AnalyzerOptions([], new EditorOptions()), onAnalyzerException: null, concurrentAnalysis: true,
            logAnalyzerExecutionTime: true));
        SemanticModel model = with.Compilation.GetSemanticModel(edited);
        Errors(model.GetDiagnostics());
        Errors(with.GetAnalyzerSemanticDiagnosticsAsync(model, null, default).GetAwaiter().GetResult());
        foreach (DiagnosticAnalyzer each in counts ? analyzers : [])
            own[each.GetType().Name] = own.GetValueOrDefault(each.GetType().Name)
                + with.GetAnalyzerTelemetryInfoAsync(each, default).GetAwaiter().GetResult().ExecutionTime.TotalMilliseconds;
    });
    if (edit == -3) Console.WriteLine($"the first one, with the analyzers: {judged.Last}");
}
Console.WriteLine($"{BigApp.Classes * BigApp.Methods} methods, {edits} edits of bodies; median and largest, each of the processor and of the clock");
Console.WriteLine($"generators:                     {generated}");
Console.WriteLine($"the document, compiler alone:   {alone}");
Console.WriteLine($"the document, with analyzers:   {judged}");
foreach ((string name, double took) in own) Console.WriteLine($"  {name}: {took / edits:F1} ms an edit");
Console.WriteLine($"memory behind a collection: {GC.GetTotalMemory(true) >> 20} MiB");
GC.KeepAlive(app);

static void Errors(ImmutableArray<Diagnostic> found)
{
    if (found.FirstOrDefault(static each => each.Severity == DiagnosticSeverity.Error) is { } error)
        throw new InvalidOperationException(error.ToString());
}

/// <summary>Options without a value, and not the compiler's own: by that the analyzers take who asks for an editor.</summary>
internal sealed class EditorOptions : AnalyzerConfigOptionsProvider
{
    public override AnalyzerConfigOptions GlobalOptions { get; } = new Empty();

    public override AnalyzerConfigOptions GetOptions(SyntaxTree tree) => GlobalOptions;

    public override AnalyzerConfigOptions GetOptions(AdditionalText textFile) => GlobalOptions;

    private sealed class Empty : AnalyzerConfigOptions
    {
        public override bool TryGetValue(string key, out string value)
        {
            value = "";
            return false;
        }
    }
}

/// <summary>It holds what something took each time, in milliseconds.</summary>
internal sealed class Figures
{
    private readonly List<double> _processor = [], _clock = [];

    internal string Last { get; private set; } = "";

    internal void Take(bool counts, Action work)
    {
        long began = Stopwatch.GetTimestamp();
        TimeSpan processor = Environment.CpuUsage.TotalTime;
        work();
        double used = (Environment.CpuUsage.TotalTime - processor).TotalMilliseconds;
        double took = Stopwatch.GetElapsedTime(began).TotalMilliseconds;
        Last = $"{used:F0} ms of a processor, {took:F0} ms";
        if (!counts) return;
        _processor.Add(used);
        _clock.Add(took);
    }

    public override string ToString()
    {
        _processor.Sort();
        _clock.Sort();
        return $"{_processor[_processor.Count / 2]:F1} and {_processor[^1]:F1} ms of a processor; {_clock[_clock.Count / 2]:F1} and {_clock[^1]:F1} ms";
    }
}
