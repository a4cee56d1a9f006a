using System.Buffers;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Payloads;
using Ambrosia.Protocol.Records;

namespace Ambrosia.Tools.Tests;

/// <summary>Messages of runs (protocol P3.3) with their arguments, as a proxy makes them.</summary>
internal static class Message
{
    public delegate void Writing(ref CborWriter to);

    public static byte[] Arguments(Writing write)
    {
        var bytes = new ArrayBufferWriter<byte>();
        var writer = new CborWriter(bytes);
        write(ref writer);
        writer.Flush();
        return bytes.WrittenSpan.ToArray();
    }

    public static byte[] Of(uint method, byte[] arguments) => Framed([.. Number(method), .. arguments]);

    public static byte[] Of(uint method, Writing write) => Of(method, Arguments(write));

    public static byte[] OfCall(uint method, ulong call, byte[] arguments) => Framed([.. Number(method), .. Number(call), .. arguments]);

    public static byte[] OfKeyed(uint method, byte[] key, byte[] arguments) =>
        Framed([.. Number(method), .. Number((ulong)key.Length), .. key, .. arguments]);

    /// <summary>A caller's request or impulse, with or without a key.</summary>
    public static ClientRequestRecord Request(ulong number, uint method, byte[] key) => new(
        new ClientSessionId(new Epoch(1), 1), number, key.Length > 0,
        key.Length > 0 ? Framed([.. Number(method), .. Number((ulong)key.Length), .. key]) : Framed(Number(method)));

    public static byte[] Framed(byte[] content) => [.. Number((ulong)content.Length), .. content];

    private static byte[] Number(ulong value)
    {
        Span<byte> bytes = stackalloc byte[Varint.BytesMax];
        return bytes[..Varint.Write(bytes, value)].ToArray();
    }
}
