using System.Buffers;
using System.Text;
using Ambrosia.Client.Connections;
using Ambrosia.Client.Queries;
using Ambrosia.Client.Requests;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Payloads;
using Ambrosia.Protocol.Runs;
using CRA.Links;

namespace Ambrosia.Client.Tests;

/// <summary>
/// The instance's side of one connection, by hand, against a real connection: what the caller sends, as text, and what it is told.
/// </summary>
internal sealed class FakeInstance : IConnectionOwner
{
    private const uint Seed = 7;

    internal static readonly Guid Uuid = new("0f0e0d0c-0b0a-0908-0706-050403020100");

    private readonly List<byte> _toCaller = [];

    internal FakeInstance(InFlightRequests? requests, QueryRouter? router = null, uint messageBytesMax = 1 << 20)
    {
        var hello = new ClientHello(1, 1, new InstanceId("bank"), Guid.Empty, "test", messageBytesMax, QueriesOnly: requests is null);
        router ??= new QueryRouter(QuerySource.Any, static _ => { }, static () => { });
        Connection = new ClientConnection(requests, router, hello, Seed) { Owner = this };
    }

    internal ClientConnection Connection { get; }

    internal ClientWelcome? Welcomed { get; private set; }

    internal Lsn Seen { get; private set; }

    internal Goodbye? Told { get; private set; }

    internal string? Why { get; private set; }

    void IConnectionOwner.Accepted(ClientWelcome welcome) => Welcomed = welcome;

    void IConnectionOwner.Saw(Lsn position) => Seen = position;

    void IConnectionOwner.ToldGoodbye(Goodbye goodbye) => Told = goodbye;

    void IConnectionOwner.Over(string why) => Why = why;

    internal static ClientSessionId Session => new(new Epoch(3), 9);

    /// <summary>Everything that the caller has to send now.</summary>
    internal List<string> Heard()
    {
        var heard = new List<string>();
        while (Connection.TryTake(out ReadOnlyMemory<byte> bytes))
        {
            ReadOnlySpan<byte> left = bytes.Span;
            while (FrameReader.TryRead(left, Seed, 1 << 21, checkPayload: true, out FrameHeader header, out ReadOnlySpan<byte> payload,
                out int size) == DecodeStatus.Ok)
            {
                FrameTypes.Check(header.Type, FrameSender.Dialler);
                if (header.Type == FrameType.Run) heard.AddRange(Messages(RunView.ReadWhole(payload, 1 << 20)));
                else if (header.Type == FrameType.Query) heard.Add(QueryOf(QueryFrame.Read(payload, 1 << 20)));
                else heard.Add($"{header.Type}");
                left = left[size..];
            }
            Assert.True(left.IsEmpty);
            Connection.Taken(bytes.Length);
        }
        return heard;
    }

    private static string QueryOf(in QueryFrame query) =>
        $"query {query.Query} at {query.Position} {Encoding.UTF8.GetString(query.Arguments)}";

    private static List<string> Messages(RunView run)
    {
        var messages = new List<string>();
        var reader = new MessageReader(run);
        for (ulong number = run.Header.First; reader.Next(); number++)
            messages.Add(
                $"{number} {run.Header.Kind} {Encoding.UTF8.GetString(reader.Arguments)}{(run.Header.Keyed ? " key " + Encoding.UTF8.GetString(reader.Key) : "")}");
        return messages;
    }

    internal void Welcome(uint requestsMax = 100) => Send(new ClientWelcome(1, Uuid, "r0", Session, 1 << 20, requestsMax));

    internal void Logged(ulong number, ulong position = 4096) => Send(new ClientLogged(number, new Lsn(position)));

    internal void AnswerQuery(ulong query, string value, QueryStatus status = QueryStatus.Value, ulong position = 4096)
    {
        var payload = new ArrayBufferWriter<byte>();
        new QueryAnswerFrame(query, status, new Lsn(position), Encoding.UTF8.GetBytes(value)).Write(payload);
        Send(FrameType.QueryAnswer, payload.WrittenSpan);
    }

    internal void Answer(ulong number, string value, MessageKind kind = MessageKind.ClientAnswer, ClientSessionId? session = null)
    {
        byte[] content = [7, .. Varint(number), .. Encoding.UTF8.GetBytes(value)];
        byte[] run = [.. new byte[RunHeader.Bytes], .. Varint((ulong)content.Length), .. content];
        ClientSessionId of = session ?? Session;
        new RunHeader(kind, false, 0, 0, of.Number, 1, 0, of.Epoch.Value).Write(run);
        Send(FrameType.Run, run);
    }

    internal FeedResult Send<T>(T frame) where T : IFramePayload<T>
    {
        var bytes = new ArrayBufferWriter<byte>();
        FrameWriter.Write(bytes, frame, Seed, checkPayload: true);
        return Feed(bytes.WrittenSpan);
    }

    internal FeedResult Send(FrameType type, ReadOnlySpan<byte> payload)
    {
        var bytes = new ArrayBufferWriter<byte>();
        FrameWriter.Write(bytes, type, payload, Seed, checkPayload: true);
        return Feed(bytes.WrittenSpan);
    }

    /// <summary>Byte by byte: frames must not depend on how they arrive.</summary>
    private FeedResult Feed(ReadOnlySpan<byte> bytes)
    {
        var answer = FeedResult.Continue;
        foreach (byte each in bytes)
        {
            _toCaller.Add(each);
            answer = Connection.Feed(_toCaller.ToArray(), drained: true, out int consumed);
            _toCaller.RemoveRange(0, consumed);
        }
        return answer;
    }

    private static byte[] Varint(ulong value)
    {
        byte[] bytes = new byte[Protocol.Payloads.Varint.SizeOf(value)];
        Protocol.Payloads.Varint.Write(bytes, value);
        return bytes;
    }
}
