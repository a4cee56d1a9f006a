using System.Text;
using System.Text.Json;
using System.Text.Json.Nodes;
using Ambrosia.Coordinator.Admin;
using Ambrosia.Log.Files;
using Ambrosia.Protocol;

namespace Ambrosia.Coordinator.Hosting;

/// <summary>
/// Keeps, for each replica, the last death of its app and its last divergence in two small files of the log's directory, <c>death.</c> and
/// <c>divergence.&lt;replica&gt;</c> (log-format L1.7). They are no part of the log: whoever removes them loses nothing else, nothing is
/// flushed for them, and a failure to write one has no effect but that it is not there. Each is written whole and renamed. Any thread.
/// </summary>
public static class IncidentFiles
{
    private const string Death = "death", Divergence = "divergence";

    /// <summary>A line that ends a process is cut to this; a file of more bytes than the second is none of these.</summary>
    private const int WhyCharsMax = 4096, FileBytesMax = 64 * 1024;

    /// <summary>Returns the newest death of an app that any replica of this log has written; null: there is none.</summary>
    public static Incident? LastDeath(IFileSystem files, string directory) => Newest(files, directory, Death);

    /// <summary>Returns the newest divergence that any replica of this log has written; null: there is none.</summary>
    public static Incident? LastDivergence(IFileSystem files, string directory) => Newest(files, directory, Divergence);

    /// <summary>Writes an incident of a replica over its last one of the same kind.</summary>
    /// <param name="epoch">That of the replica's log, for the name of the temporary file.</param>
    internal static void Write(IFileSystem files, string directory, Epoch epoch, Incident incident)
    {
        string name = $"{(incident.ExitCode is null ? Divergence : Death)}.{incident.Replica}";
        string temporary = Path.Combine(directory, $"{name}.{incident.Replica}.{epoch}.tmp");
        try
        {
            WholeFile.Write(files, Path.Combine(directory, name), temporary, ToJson(incident) + "\n");
        }
        catch (IOException)
        {
            // The disk is full, or somebody else has removed it: the log says the same to who searches it.
        }
    }

    /// <summary>Returns all of them that can be read, by the names of their files.</summary>
    public static IEnumerable<(string Name, Incident Incident)> Of(IFileSystem files, string directory)
    {
        foreach (string name in files.List(directory))
            if (name.Split('.') is [Death or Divergence, var replica] && Names.IsValid(replica)
                && Read(files, Path.Combine(directory, name), replica) is { } incident) yield return (name, incident);
    }

    private static Incident? Newest(IFileSystem files, string directory, string kind) =>
        Of(files, directory).Where(each => each.Name.StartsWith(kind + '.', StringComparison.Ordinal)).Select(static each => each.Incident)
            .MaxBy(static incident => incident.TimeUs);

    private static string ToJson(Incident incident)
    {
        var json = new JsonObject
        {
            ["time"] = incident.TimeUs, ["replica"] = incident.Replica, ["appVersion"] = incident.AppVersion, ["lsn"] = incident.Place,
            ["index"] = incident.Index, ["build"] = incident.Build,
        };
        if (incident.ExitCode is { } code)
        {
            json["exitCode"] = code;
            json["signal"] = incident.Signal;
        }
        else
        {
            json["from"] = incident.From;
            json["to"] = incident.To;
            json["ofState"] = incident.IsOfState;
            json["why"] = incident.Why is { Length: > WhyCharsMax } why ? why[..WhyCharsMax] : incident.Why;
        }
        return json.ToJsonString();
    }

    /// <summary>Reads a file; null: it is gone, or not whole, or of another form.</summary>
    private static Incident? Read(IFileSystem files, string path, string replica)
    {
        byte[] bytes = new byte[FileBytesMax];
        try
        {
            using IFile file = files.Open(path, FileUse.Read);
            JsonNode? json = StrictJson.Parse(bytes.AsSpan(0, file.Read(bytes, 0)));
            return json?["time"] is not JsonValue time || json["lsn"] is not JsonValue lsn ? null
                : new Incident(
                    replica, time.GetValue<long>(), (uint?)json["appVersion"] ?? 0, lsn.GetValue<ulong>(), (uint?)json["index"])
                {
                    Build = (string?)json["build"], ExitCode = (int?)json["exitCode"], From = (ulong?)json["from"],
                    To = (ulong?)json["to"], IsOfState = (bool?)json["ofState"] ?? false, Why = (string?)json["why"],
                };
        }
        catch (Exception e) when (e is IOException or JsonException or InvalidOperationException or FormatException)
        {
            return null;
        }
    }
}
