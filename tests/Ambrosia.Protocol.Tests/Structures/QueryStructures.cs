using System.Buffers;
using System.Text.Json.Nodes;
using Ambrosia.Protocol.Frames;
using static Ambrosia.Protocol.Tests.AllStructures;

namespace Ambrosia.Protocol.Tests;

/// <summary>Queries and their answers.</summary>
internal static class QueryStructures
{
    public static IEnumerable<KeyValuePair<string, Structure>> All =>
    [
        new("Query",
            new Structure(static (bytes, context) => Fields(QueryFrame.Read(bytes, MessageLimit(context))),
                static (bytes, context) => Again(QueryFrame.Read(bytes, MessageLimit(context))), Ends.Anywhere)),
        new("QueryAnswer", new Structure(
            static (bytes, context) => Fields(QueryAnswerFrame.Read(bytes, MessageLimit(context))),
            static (bytes, context) => Again(QueryAnswerFrame.Read(bytes, MessageLimit(context))), Ends.Anywhere)),
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
