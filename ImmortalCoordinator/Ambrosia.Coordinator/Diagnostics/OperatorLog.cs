using System.Text.Json.Nodes;

namespace Ambrosia.Coordinator;

/// <summary>Lines for the operator on one writer, as text or as JSON objects. Any thread.</summary>
internal sealed class OperatorLog(TextWriter output, bool json)
{
    private readonly Lock gate = new();

    public void Say(string line) => Write(line, json ? new JsonObject { ["event"] = "line", ["text"] = line } : null);

    public void Ready(string instance, ulong epoch, long replayed, TimeSpan took, string address, string appChannel)
    {
        string line = $"ready instance={instance} epoch={epoch} replayed={replayed} in {took.TotalMilliseconds:F0}ms";
        Write(line, json ? new JsonObject
        {
            ["event"] = "ready", ["instance"] = instance, ["epoch"] = epoch, ["replayed"] = replayed, ["ms"] = took.TotalMilliseconds,
            ["address"] = address, ["app"] = appChannel,
        } : null);
    }

    public void Failure(int code, string why) =>
        Write($"exit {code}: {why}", json ? new JsonObject { ["event"] = "exit", ["code"] = code, ["why"] = why } : null);

    private void Write(string line, JsonObject? fields)
    {
        lock (gate)
        {
            output.WriteLine(fields?.ToJsonString() ?? line);
            output.Flush();
        }
    }
}
