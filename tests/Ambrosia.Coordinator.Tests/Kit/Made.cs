using System.Buffers;
using Ambrosia.Coordinator.Inbox;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Payloads;
using Ambrosia.Protocol.Runs;
using Ambrosia.TestKit;

namespace Ambrosia.Coordinator.Tests;

/// <summary>
/// Messages, runs and frames as an app or a peer would make them. A message's bytes follow from its number, so that a mix-up shows.
/// </summary>
internal static class Made
{
    public static readonly MessageKind[] Numbered = [MessageKind.Fork, MessageKind.Call, MessageKind.Result, MessageKind.Failure];

    public static InboundChannel Admitted(this DedupTable dedup, InstanceId peer, Guid uuid, Epoch epoch)
    {
        Assert.True(dedup.TryAdmit(peer, uuid, epoch, out InboundChannel? origin, out string? why), why);
        return origin!;
    }

    public static byte[] Message(MessageKind kind, ulong id, int argumentBytes)
    {
        byte[] content = new byte[Protocol.Payloads.Varint.BytesMax * 2 + argumentBytes];
        int at = Protocol.Payloads.Varint.Write(content, 1 + id % 300);
        if (kind is not (MessageKind.Fork or MessageKind.Impulse)) at += Protocol.Payloads.Varint.Write(content.AsSpan(at), id);
        for (int i = 0; i < argumentBytes; i++) content[at + i] = (byte)(id * 31 + (ulong)i * 7);
        at += argumentBytes;
        byte[] message = new byte[Protocol.Payloads.Varint.SizeOf((ulong)at) + at];
        content.AsSpan(0, at).CopyTo(message.AsSpan(Protocol.Payloads.Varint.Write(message, (ulong)at)));
        return message;
    }

    /// <summary>A message with this content behind its method.</summary>
    public static byte[] Raw(uint method, ReadOnlySpan<byte> content) =>
        [.. Varint((ulong)(Protocol.Payloads.Varint.SizeOf(method) + content.Length)), .. Varint(method), .. content];

    public static byte[] Varint(ulong value)
    {
        byte[] bytes = new byte[Protocol.Payloads.Varint.SizeOf(value)];
        Protocol.Payloads.Varint.Write(bytes, value);
        return bytes;
    }

    public static byte[] Payload<T>(T frame) where T : IFramePayload<T> => Frame(frame)[FrameHeader.Bytes..];

    public static byte[] Run(
        MessageKind kind, ulong first, ulong hash, IReadOnlyList<byte[]> messages, byte[]? extensions = null, uint peer = 0)
    {
        var header = new RunHeader(kind, false, 0, peer, first, (uint)messages.Count, (uint)(extensions?.Length ?? 0), hash);
        byte[] run = [.. new byte[RunHeader.Bytes], .. extensions ?? [], .. messages.SelectMany(static m => m)];
        header.Write(run);
        return run;
    }

    /// <summary>The first run of a channel, with the hash of its calls.</summary>
    public static byte[] FirstRun(MessageKind kind, byte[][] messages, byte[]? extensions = null)
    {
        var hasher = new ChannelHasher();
        foreach (byte[] message in messages) hasher.Append(kind, message);
        return Run(kind, 1, hasher.Hash, messages, extensions);
    }

    /// <summary>A block of unknown type (P3.7).</summary>
    public static byte[] Extension(int bytes)
    {
        byte[] size = new byte[Protocol.Payloads.Varint.SizeOf((ulong)bytes)];
        Protocol.Payloads.Varint.Write(size, (ulong)bytes);
        return [99, 1, .. size, .. Enumerable.Repeat((byte)0xEE, bytes)];
    }

    public static byte[] Frame(FrameType type, ReadOnlySpan<byte> payload, uint seed = 0, bool checkPayload = false)
    {
        var to = new ArrayBufferWriter<byte>();
        FrameWriter.Write(to, type, payload, seed, checkPayload);
        return to.WrittenSpan.ToArray();
    }

    public static byte[] Frame<T>(T frame, uint seed = 0, bool checkPayload = false) where T : IFramePayload<T>
    {
        var to = new ArrayBufferWriter<byte>();
        FrameWriter.Write(to, frame, seed, checkPayload);
        return to.WrittenSpan.ToArray();
    }

    public static List<byte[]> MessagesOf(RunView run)
    {
        var list = new List<byte[]>();
        var reader = new MessageReader(run);
        while (reader.Next()) list.Add(reader.Whole.ToArray());
        return list;
    }

    /// <summary>Frames one behind another, each with all its checks; nothing may be left over.</summary>
    public static List<(FrameType Type, byte[] Payload)> FramesOf(ReadOnlySpan<byte> bytes, uint seed, bool checkPayload)
    {
        var list = new List<(FrameType, byte[])>();
        while (!bytes.IsEmpty)
        {
            Assert.Equal(DecodeStatus.Ok,
                FrameReader.TryRead(bytes, seed, uint.MaxValue >> 2, checkPayload, out FrameHeader header,
                    out ReadOnlySpan<byte> payload, out int size));
            list.Add((header.Type, payload.ToArray()));
            bytes = bytes[size..];
        }
        return list;
    }

    /// <summary>Runs the body once a seed and repeats the seed where it fails.</summary>
    public static void Seeds(int release, Action<SimulatedRandom> body, int atLeast = 20)
    {
        for (ulong seed = 1; seed <= (ulong)Math.Max(atLeast, TestScale.Rounds(release)); seed++)
        {
            try
            {
                body(new SimulatedRandom(seed));
            }
            catch (Exception e)
            {
                throw new Xunit.Sdk.XunitException($"seed {seed}: {e}");
            }
        }
    }
}
