using System.Text.Json;
using Ambrosia.Coordinator.Replica;
using Ambrosia.Log.Files;
using Ambrosia.Log.Instances;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Hashing;
using Ambrosia.Protocol.Records;
using Microsoft.Extensions.Logging;

namespace Ambrosia.Coordinator.Builds;

/// <summary>
/// Keeps what apps have stated of themselves in the log's directory: contract manifests, each under the hash of its content, so that tools
/// show methods and arguments by name wherever the log is copied; and what the methods of each build execute, by which the next build is
/// judged. It never stops an app: what cannot be written is told, and tried again with the next session. The thread that reads the app.
/// </summary>
internal sealed class ContractFiles(CoordinatorInputs inputs)
{
    /// <summary>There is one for each build whose contracts differ; beyond so many none is added.</summary>
    private const int FilesMax = 1024;

    private readonly string _directory = Path.Combine(inputs.Options.LogDirectory, InstanceDirectory.Contracts);

    /// <summary>Keeps a manifest that is not there yet.</summary>
    /// <exception cref="ProtocolViolation">P5.21: it is no JSON.</exception>
    public void Keep(ReadOnlySpan<byte> manifest)
    {
        CheckJson(manifest);
        KeepAs($"{ChannelHash.Append(0, manifest):x16}.json", manifest);
    }

    /// <summary>Keeps what the methods of a build execute, by its name.</summary>
    /// <exception cref="ProtocolViolation">P5.23: it is no such document, or that of another build.</exception>
    public BuildMethods KeepMethods(BuildId build, ReadOnlySpan<byte> json)
    {
        var methods = BuildMethods.Read(json.ToArray());
        if (methods.Build != build)
            throw new ProtocolViolation("P5.23", $"methods of build {methods.Build} behind a hello of build {build}");
        KeepAs(NameOf(build), json);
        return methods;
    }

    /// <summary>Reads what the methods of a build execute; null: it is not kept, or not readable.</summary>
    public BuildMethods? TryReadMethods(BuildId build)
    {
        try
        {
            using IFile file = inputs.Files.Open(Path.Combine(_directory, NameOf(build)), FileUse.Read);
            if (file.Length > BuildMethodsFrame.BytesMax) return null;
            var json = new byte[file.Length];
            int read = file.Read(json, 0);
            var methods = BuildMethods.Read(json.AsMemory(0, read));
            return methods.Build == build ? methods : null;
        }
        catch (Exception e) when (e is IOException or ProtocolViolation)
        {
            return null;
        }
    }

    private static string NameOf(BuildId build) => $"build.{build}.json";

    private void KeepAs(string name, ReadOnlySpan<byte> content)
    {
        try
        {
            IReadOnlyList<string> present = inputs.Files.List(_directory);
            if (present.Contains(name)) return;
            if (present.Count >= FilesMax) inputs.Logger.ContractNotKept($"{_directory} holds {present.Count} files");
            else Write(name, content);
        }
        catch (IOException e)
        {
            inputs.Logger.ContractNotKept(e.Message);
        }
    }

    private void Write(string name, ReadOnlySpan<byte> content)
    {
        inputs.Files.CreateDirectory(_directory);
        string temporary = Path.Combine(_directory, $"{name}.{inputs.Options.Replica}.tmp");
        inputs.Files.Delete(temporary); // of a process that was killed here
        using (IFile file = inputs.Files.Create(temporary))
        {
            file.Write(content, 0);
            Crash.Hit("contract.midWrite");
            file.Flush();
        }
        inputs.Files.Rename(temporary, Path.Combine(_directory, name));
        Crash.Hit("contract.afterRename");
        inputs.Files.FlushDirectory(_directory);
        inputs.Files.FlushDirectory(inputs.Options.LogDirectory); // the directory itself may be new
    }

    private static void CheckJson(ReadOnlySpan<byte> manifest)
    {
        try
        {
            var reader = new Utf8JsonReader(manifest);
            while (reader.Read()) { }
        }
        catch (JsonException e)
        {
            throw new ProtocolViolation("P5.21", $"a contract manifest that is no JSON: {e.Message}");
        }
    }
}

/// <summary>Declares the events of contract manifests.</summary>
internal static partial class ContractEvents
{
    /// <summary>
    /// Tools show this build's methods by number in this log, unless they are given its manifest. Everything else goes on. Give the disk
    /// space, or remove files of contracts/ that nobody wants.
    /// </summary>
    [LoggerMessage(EventId = 821, EventName = "app.contract.unkept", Level = LogLevel.Warning,
        Message = "the app's contract manifest is not kept in the log's directory: {Why}")]
    public static partial void ContractNotKept(this ILogger logger, string why);
}
