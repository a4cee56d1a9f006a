using System.Text.Json;
using System.Text.Json.Serialization;
using Ambrosia.Coordinator.Replica;
using Ambrosia.Inspection.Texts;
using Ambrosia.Log.Cutting;
using Ambrosia.Log.Format;
using Ambrosia.Protocol;

namespace Ambrosia.Inspection.Cuts;

/// <summary>
/// Describes a cut of a log: a small log of its own that ends with one message, and what was done with it then. It is the file
/// <c>cut.json</c> of the cut's directory (log-format L1.8).
/// </summary>
public sealed record Cut
{
    /// <summary>The image of the state behind the message, as it was then, beside the description.</summary>
    internal const string ImageName = "then.image";

    private const int Version = 1;

    public int Format { get; init; } = Version;

    public required string Instance { get; init; }

    /// <summary>The position where execution begins: that of the checkpoint, or 0.</summary>
    public required ulong From { get; init; }

    /// <summary>The place of the message, <c>LSN:INDEX</c>.</summary>
    public required string Place { get; init; }

    /// <summary>The place is the end of the log: there is no message behind it.</summary>
    public bool IsEnd { get; init; }

    /// <summary>Says in a line what the message is.</summary>
    public required string Message { get; init; }

    /// <summary>
    /// The rules by which values in it were replaced, so that it tells nothing of them; what was done then was made anew, with these. Null:
    /// it is as the log is.
    /// </summary>
    public IReadOnlyList<string>? Masked { get; init; }

    /// <summary>What was done then, as a build did it again that was given; null: none was given, or it died of the message.</summary>
    public CutOutcome? Then { get; init; }

    /// <summary>Where the cut is; its files lie there.</summary>
    [JsonIgnore]
    public string Directory { get; internal init; } = "";

    /// <summary>Reads the description of a cut.</summary>
    /// <param name="directory">
    /// Where it is. A relative path is looked for in the current directory, and then beside the running program and above it, so that a
    /// test finds what stands beside its source.
    /// </param>
    /// <exception cref="MisuseException">There is none.</exception>
    public static Cut Read(string directory)
    {
        string found = Candidates(directory).FirstOrDefault(static each => File.Exists(Path.Combine(each, LogCut.FileName)))
            ?? throw new MisuseException($"'{directory}' is no cut",
                $"it holds no {LogCut.FileName}, neither from the current directory nor from one above {AppContext.BaseDirectory}",
                "make one with 'ambrosia cut'; a log is looked at with AmbrosiaHost.Debug");
        string path = Path.Combine(found, LogCut.FileName);
        Cut? cut;
        try
        {
            cut = JsonSerializer.Deserialize(GivenFile.Read(path), CutJson.Default.Cut);
        }
        catch (JsonException e)
        {
            throw new LogDamage(path, 0, null, "the description of a cut", e.Message);
        }
        if (cut is null || cut.Format != Version)
            throw new MisuseException(
                $"'{path}' has format {cut?.Format}", $"this is for format {Version}", "use the version that made the cut");
        return cut with { Directory = found };
    }

    /// <summary>Writes the description into the cut's directory.</summary>
    internal void Write() => File.WriteAllBytes(
        Path.Combine(Directory, LogCut.FileName), [.. JsonSerializer.SerializeToUtf8Bytes(this, CutJson.Default.Cut), (byte)'\n']);

    private static IEnumerable<string> Candidates(string directory)
    {
        yield return Path.GetFullPath(directory);
        for (DirectoryInfo? above = new(AppContext.BaseDirectory); above is not null; above = above.Parent)
            yield return Path.GetFullPath(directory, above.FullName);
    }
}

/// <summary>Says what a build did with a cut.</summary>
/// <param name="Build">As it stated itself, in hexadecimal; null: it did not.</param>
/// <param name="Calls">What the message made it call, a line each.</param>
/// <param name="Emitted">What it emitted from the cut's beginning on, by whom it went to; callers outside are the empty name.</param>
/// <param name="State">The hash of the image behind the message, in hexadecimal.</param>
public sealed record CutOutcome(
    string? Build, IReadOnlyList<string> Calls, IReadOnlyDictionary<string, EmittedSum> Emitted, string State);

/// <summary>Counts what went to one receiver, and holds its hash.</summary>
/// <param name="Hash">In hexadecimal: of calls in their order, of answers in any.</param>
public sealed record EmittedSum(ulong Count, string Hash);

/// <summary>Reads and writes descriptions of cuts.</summary>
[JsonSourceGenerationOptions(WriteIndented = true, PropertyNamingPolicy = JsonKnownNamingPolicy.CamelCase,
    DefaultIgnoreCondition = JsonIgnoreCondition.WhenWritingNull)]
[JsonSerializable(typeof(Cut))]
internal sealed partial class CutJson : JsonSerializerContext;
