using System.Text.Json;
using System.Text.Json.Nodes;
using Ambrosia.Coordinator.Admin;
using Ambrosia.Coordinator.Replica;
using Ambrosia.Log.Files;
using Ambrosia.Log.Format;
using Ambrosia.Log.Instances;
using Ambrosia.Log.Segments;

namespace Ambrosia.Coordinator.Hosting;

/// <summary>
/// Is the file <c>next-app.&lt;replica&gt;</c> beside a replica's sockets: it says with which app this replica went on where an upgrade was
/// made under it, so that a later start with the command line of before is told what to give. It means nothing to the log, and may be gone.
/// </summary>
/// <param name="Version">This version was about to come into force.</param>
internal sealed record NextAppFile(uint Version, IReadOnlyList<string> App, IReadOnlyList<string> OldApp)
{
    private const int BytesMax = 128 << 10;

    private static string PathOf(CoordinatorOptions options) => Path.Combine(options.RunDirectory, $"next-app.{options.Replica}");

    /// <summary>They are the options of a start that goes on with the version in force.</summary>
    public string CommandLine => $"--upgrade-to {Version} --old-app '{CommandText.Of(OldApp)}' -- {CommandText.Of(App)}";

    /// <summary>Writes the file in the place of one that is there; a full disk leaves none, and is found by whoever writes next.</summary>
    public void Write(IFileSystem files, CoordinatorOptions options)
    {
        var content = new JsonObject
        {
            ["version"] = Version, ["app"] = new JsonArray([.. App.Select(static each => (JsonNode)each)]),
            ["oldApp"] = new JsonArray([.. OldApp.Select(static each => (JsonNode)each)]),
        };
        string path = PathOf(options);
        try
        {
            WholeFile.Write(files, path, path + ".new", content.ToJsonString());
        }
        catch (IOException)
        {
            // It is for people alone.
        }
    }

    /// <summary>Reads the file; null: it is not there, or not whole.</summary>
    public static NextAppFile? TryRead(IFileSystem files, CoordinatorOptions options)
    {
        byte[] bytes = new byte[BytesMax];
        try
        {
            using IFile file = files.Open(PathOf(options), FileUse.Read);
            return StrictJson.Parse(bytes.AsSpan(0, file.Read(bytes, 0))) is JsonObject said
                && said["version"]?.GetValue<uint>() is { } version && said["app"] is JsonArray app && said["oldApp"] is JsonArray old
                ? new NextAppFile(version, [.. app.Select(Word)], [.. old.Select(Word)]) : null;
        }
        catch (Exception e) when (e is IOException or JsonException or InvalidOperationException or FormatException)
        {
            return null;
        }
    }

    /// <summary>
    /// Says what a start is to be given whose app lacks the version of the log, if that came into force under this replica; else it is
    /// empty.
    /// </summary>
    public static string HintOf(IFileSystem files, CoordinatorOptions options)
    {
        if (TryRead(files, options) is not { } next) return "";
        try
        {
            bool isOfLog = InstanceDirectory.TryRead(files, options.LogDirectory) is { } identity
                && LogChain.Load(files, options.LogDirectory, identity).NewestVersion(files) == next.Version;
            return !isOfLog ? ""
                : $". It came into force under a primary of this replica, which went on with another app than its command line names: give {next.CommandLine}";
        }
        catch (Exception e) when (e is IOException or LogDamage)
        {
            return ""; // the start ends for a better reason than this
        }
    }

    private static string Word(JsonNode? node) => node?.GetValue<string>() ?? "";

    public static void Remove(IFileSystem files, CoordinatorOptions options)
    {
        try
        {
            files.Delete(PathOf(options));
        }
        catch (IOException)
        {
            // Its version is not in force, so nobody is told of it.
        }
    }
}
