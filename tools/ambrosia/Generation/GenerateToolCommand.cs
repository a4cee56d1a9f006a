using System.CommandLine;
using System.Text;
using System.Text.Json;
using Ambrosia.Tools.Commands;
using Ambrosia.Tools.Contracts;
using Ambrosia.Tools.Output;

namespace Ambrosia.Tools.Generation;

/// <summary>The commands <c>ambrosia generate …</c> write source text from contract manifests.</summary>
internal sealed class GenerateToolCommand : Command
{
    public GenerateToolCommand(ToolStreams streams) : base("generate", "Writes source text from contract manifests.") =>
        Add(new GenerateCppToolCommand(streams));
}

/// <summary>
/// The command <c>ambrosia generate cpp FILE…</c> writes one C++ header for each manifest, beside it or into a directory. A header that is
/// as it should be is left alone. With <c>--check</c> nothing is written, and the exit code is 1 where a header is missing or stale.
/// </summary>
internal sealed class GenerateCppToolCommand : ToolCommand
{
    private const string Ending = ".contract.json", HeaderEnding = ".contract.h";

    private readonly Argument<string[]> _files =
        new("FILE") { Description = "Contract manifests (*.contract.json).", Arity = ArgumentArity.OneOrMore };
    private readonly Option<string?> _output =
        new("--output") { Description = "Directory for the headers; default: beside each manifest.", HelpName = "DIR" };
    private readonly Option<bool> _check = new("--check") { Description = "Write nothing, and say which headers are missing or stale." };

    public GenerateCppToolCommand(ToolStreams streams)
        : base(streams, "cpp", "Writes the C++ header of each manifest: data types, proxies, and the switch that dispatches messages.")
    {
        Add(_files);
        Add(_output);
        Add(_check);
    }

    protected override int Run(ParseResult parsed, Screen screen)
    {
        string? directory = parsed.GetValue(_output);
        if (directory is not null && !Directory.Exists(directory))
            throw new ToolMisuse($"'{directory}' is no directory", "the headers are to be written there", "make it, or name another");
        // All are made before any is written: what is wrong with one leaves all as they were.
        (string Path, string Text)[] headers = [.. parsed.GetRequiredValue(_files).Select(file => (PathOf(file, directory), Make(file)))];
        if (headers.GroupBy(static each => Path.GetFullPath(each.Path)).FirstOrDefault(static same => same.Skip(1).Any()) is { } twice)
            throw new ToolMisuse($"'{twice.Key}' would be the header of several manifests", "", "give each a directory of its own with --output");
        bool isCheck = parsed.GetValue(_check);
        var rows = new List<GeneratedFile>();
        foreach ((string path, string text) in headers)
        {
            bool isStale = !File.Exists(path) || File.ReadAllText(path) != text;
            if (isStale && !isCheck) File.WriteAllText(path, text, new UTF8Encoding(encoderShouldEmitUTF8Identifier: false));
            rows.Add(new GeneratedFile(path, !isStale ? "current" : isCheck ? "stale" : "written"));
        }
        screen.Show(new GenerationReport(rows));
        return isCheck && rows.Exists(static row => row.State == "stale") ? ToolExit.Damage : ToolExit.Fine;
    }

    private static string PathOf(string file, string? directory)
    {
        string name = Path.GetFileName(file);
        name = (name.EndsWith(Ending, StringComparison.Ordinal) ? name[..^Ending.Length] : Path.GetFileNameWithoutExtension(name))
            + HeaderEnding;
        return Path.Combine(directory ?? Path.GetDirectoryName(file) ?? "", name);
    }

    private static string Make(string file)
    {
        ManifestReport checkedManifest = ManifestCheck.Check(file);
        if (!checkedManifest.Valid)
            throw new ToolMisuse($"'{file}' is no valid manifest", "", $"'ambrosia contract check {file}' names each place that is wrong");
        using JsonDocument json = ManifestFiles.Parse(file);
        return CppHeader.Write(file, json.RootElement);
    }
}

/// <summary>It names a header, and says what became of it.</summary>
/// <param name="State">It is <c>written</c>, <c>current</c>, or <c>stale</c>.</param>
internal sealed record GeneratedFile(string Path, string State);

/// <summary>It lists the headers.</summary>
internal sealed record GenerationReport(IReadOnlyList<GeneratedFile> Files) : IReport
{
    public void Draw(Screen screen)
    {
        foreach (GeneratedFile file in Files) screen.Line($"{file.Path}: {file.State}", file.State == "stale" ? Tone.Bad : Tone.Good);
    }
}
