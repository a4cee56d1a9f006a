using System.Buffers;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Payloads;

namespace Ambrosia.Binding.Tests.Images;

/// <summary>Writes and reads graphs of objects that stand alone: a table of types and the objects, of which number 0 is the root.</summary>
internal static class GraphBytes
{
    public static byte[] Written(object root, bool isReflective = false)
    {
        var graph = new GraphWriter(isReflective);
        graph.IdOf(root);
        graph.WriteAll();
        return Of(graph);
    }

    public static byte[] Of(GraphWriter graph)
    {
        var bytes = new ArrayBufferWriter<byte>();
        var to = new CborWriter(bytes);
        graph.CopyTo(ref to);
        to.Flush();
        return bytes.WrittenSpan.ToArray();
    }

    public static object Read(byte[] image, bool isReflective = false, int? windowBytes = null)
    {
        static void NoProxy(object proxy, InstanceId id) => throw new InvalidOperationException($"no proxy of {id}");
        GraphReader graph = windowBytes is { } window ? new(NoProxy, isReflective, window) : new(NoProxy, isReflective);
        using LargeBuffer bytes = Buffered(image);
        graph.ReadAll(bytes, 0);
        return graph.ObjectOf(0);
    }

    public static LargeBuffer Buffered(ReadOnlySpan<byte> image)
    {
        var bytes = new LargeBuffer();
        bytes.Append(image);
        return bytes;
    }
}
