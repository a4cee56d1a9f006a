using System.Buffers;
using System.Text.Json.Nodes;
using Ambrosia.Protocol.Frames;
using static Ambrosia.Protocol.Tests.AllStructures;

namespace Ambrosia.Protocol.Tests;

/// <summary>Queries and their answers; of a connection whose message limit is 100 bytes.</summary>
internal static class QueryStructures
{
    private const uint MessageBytesMax = 100;

    public static IEnumerable<KeyValuePair<string, Structure>> All =>
    [
        new("Query",
            new Structure(static (bytes, _) => Fields(QueryFrame.Read(bytes, MessageBytesMax)),
                static (bytes, _) => Again(QueryFrame.Read(bytes, MessageBytesMax)), Ends.Anywhere)),
        new("QueryAnswer", new Structure(
            static (bytes, _) => Fields(QueryAnswerFrame.Read(bytes, MessageBytesMax)),
            static (bytes, _) => Again(QueryAnswerFrame.Read(bytes, MessageBytesMax)), Ends.Anywhere)),
    ];

    private static JsonObject Fields(in QueryFrame query) => new()
    {
        ["query"] = Text(query.Query), ["position"] = Text(query.Position.Value), ["patienceMs"] = query.PatienceMs,
        ["method"] = query.Method, ["arguments"] = Hex(query.Arguments),
    };

    private static JsonObject Fields(in QueryAnswerFrame answer) => new()
    {
        ["query"] = Text(answer.Query), ["status"] = (int)answer.Status, ["position"] = Text(answer.Position.Value),
        ["answer"] = Hex(answer.Answer),
    };

    private static byte[] Again(in QueryFrame query)
    {
        var to = new ArrayBufferWriter<byte>();
        query.Write(to);
        return to.WrittenSpan.ToArray();
    }

    private static byte[] Again(in QueryAnswerFrame answer)
    {
        var to = new ArrayBufferWriter<byte>();
        answer.Write(to);
        return to.WrittenSpan.ToArray();
    }
}
