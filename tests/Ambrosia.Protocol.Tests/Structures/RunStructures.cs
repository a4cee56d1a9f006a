using System.Text.Json.Nodes;
using Ambrosia.Protocol.Payloads;
using Ambrosia.Protocol.Runs;
using static Ambrosia.Protocol.Tests.AllStructures;

namespace Ambrosia.Protocol.Tests;

/// <summary>Runs, cuts, extension blocks.</summary>
internal static class RunStructures
{
    public static IEnumerable<KeyValuePair<string, Structure>> All =>
    [
        new("run", new Structure(Decode, static (bytes, _) => Reencode(bytes))),
        new("runCut", new Structure(static (bytes, context) => Cut(bytes, (uint)context["cut"]!), null, Ends.NotDecoded)),
        new("failureStack", new Structure(
            static (bytes, _) =>
            {
                FailureStack x = FailureStack.Read(bytes);
                return new() { ["fromEnd"] = x.FromEnd, ["stack"] = x.Stack };
            },
            static (bytes, _) => ContentOf(FailureStack.Read(bytes)))),
        new("runCause", new Structure(
            static (bytes, _) =>
            {
                RunCause x = RunCause.Read(bytes);
                return new() { ["first"] = Text(x.First.Value), ["last"] = Text(x.Last.Value) };
            },
            static (bytes, _) => ContentOf(RunCause.Read(bytes)))),
        new("traceContext", new Structure(
            static (bytes, _) => new()
            {
                ["traces"] = new JsonArray([.. MessageTrace.Read(bytes).Select(static x => new JsonObject
                {
                    ["fromEnd"] = x.FromEnd, ["trace"] = $"{x.TraceId:x32}", ["span"] = Hex(x.SpanId), ["flags"] = (int)x.Flags,
                })]),
            },
            static (bytes, _) => ContentOf(MessageTrace.Read(bytes)), Ends.Anywhere)),
    ];

    private static JsonObject Decode(ReadOnlySpan<byte> bytes, JsonObject context)
    {
        RunView run = RunView.ReadWhole(bytes, MessageLimit(context));
        RunHeader x = run.Header;
        return new()
        {
            ["kind"] = (int)x.Kind, ["keyed"] = x.Keyed, ["shard"] = x.Shard, ["peer"] = x.Peer, ["first"] = Text(x.First),
            ["count"] = x.Count, ["hash"] = Hex(x.Hash),
            ["extensions"] = ExtensionsOf(run), ["messages"] = MessagesOf(run),
        };
    }

    private static JsonArray ExtensionsOf(RunView run)
    {
        var shown = new JsonArray();
        var blocks = new ExtensionReader(run.Extensions);
        while (blocks.Next())
            shown.Add(
                new JsonObject
                {
                    ["type"] = Text((ulong)blocks.Type), ["version"] = Text(blocks.Version), ["content"] = Hex(blocks.Content)
                });
        return shown;
    }

    private static JsonArray MessagesOf(RunView run)
    {
        var shown = new JsonArray();
        var messages = new MessageReader(run);
        while (messages.Next())
        {
            shown.Add(new JsonObject
            {
                ["method"] = messages.Method, ["call"] = Text(messages.CallId), ["key"] = Hex(messages.Key),
                ["arguments"] = Hex(messages.Arguments),
            });
        }
        return shown;
    }

    private static byte[] Reencode(ReadOnlySpan<byte> bytes)
    {
        RunView run = RunView.ReadWhole(bytes, SizeLimits.MessageBytesMaxDefault);
        var header = new byte[RunHeader.Bytes];
        run.Header.Write(header);
        var messages = new MessageReader(run);
        var whole = new List<byte>();
        while (messages.Next()) whole.AddRange(messages.Whole);
        return [.. header, .. run.Extensions, .. whole];
    }

    private static JsonObject Cut(ReadOnlySpan<byte> bytes, uint count)
    {
        RunView run = RunView.Read(bytes);
        RunHeader rest = run.Header.CutFirst(count);
        return new() { ["offset"] = MessageScanner.Skip(run.Messages, count), ["first"] = Text(rest.First), ["count"] = rest.Count };
    }

    private static byte[] ContentOf(FailureStack stack)
    {
        var buffer = new byte[FailureStack.StackBytesMax + 64];
        var writer = new PayloadWriter(buffer);
        stack.Write(ref writer);
        return ContentOf(buffer.AsSpan(0, writer.Written), ExtensionType.FailureStack, FailureStack.Version);
    }

    private static byte[] ContentOf(RunCause cause)
    {
        var buffer = new byte[RunCause.BlockBytes];
        cause.WriteBlock(buffer);
        return ContentOf(buffer, ExtensionType.Cause, RunCause.Version);
    }

    private static byte[] ContentOf(MessageTrace[] traces)
    {
        var buffer = new byte[64 + traces.Length * 64];
        var writer = new PayloadWriter(buffer);
        MessageTrace.WriteBlock(ref writer, traces);
        return ContentOf(buffer.AsSpan(0, writer.Written), ExtensionType.TraceContext, MessageTrace.Version);
    }

    /// <summary>The content of the one block that there is.</summary>
    private static byte[] ContentOf(ReadOnlySpan<byte> bytes, ExtensionType type, ulong version)
    {
        var block = new ExtensionReader(bytes);
        Assert.True(block.Next());
        Assert.Equal((type, version), (block.Type, block.Version));
        byte[] content = block.Content.ToArray();
        Assert.False(block.Next());
        return content;
    }
}
