// The binding's image: everything that a session needs to go on after the records that the image contains. One CBOR array:
// [version, next call id, origins: [shard, name, …], types, objects, ids of outstanding calls, surroundings: [time, random]]. Object 0 is the immortal.
using System.Buffers;
using Ambrosia.Protocol;

namespace Ambrosia;

internal static class StateImage
{
    internal const uint Version = 2;

    /// <exception cref="NotWritableException">Something reachable from the state cannot be written.</exception>
    internal static ReadOnlyMemory<byte> Write(ImmortalRuntime runtime)
    {
        var graph = new GraphWriter();
        graph.IdOf(runtime.Immortal!);
        int[] outstanding = [.. runtime.Calls.All.Select(call => graph.IdOf(call))];
        int random = graph.IdOf(runtime.Surroundings.State);
        graph.WriteAll();

        var image = new ArrayBufferWriter<byte>();
        var to = new CborWriter(image);
        to.WriteArrayHeader(7);
        to.WriteUInt64(Version);
        to.WriteUInt64(runtime.Calls.Next);
        to.WriteArrayHeader(2 * runtime.Origins.Peers.Count);
        foreach (InstanceId peer in runtime.Origins.Peers)
        {
            to.WriteUInt64(peer.Shard);
            to.WriteString(peer.Name);
        }
        graph.CopyTo(ref to);
        to.WriteArrayHeader(outstanding.Length);
        foreach (int id in outstanding) to.WriteUInt64((ulong)id);
        to.WriteArrayHeader(2);
        to.WriteInt64(runtime.Surroundings.NowUs);
        to.WriteUInt64((ulong)random);
        to.Flush();
        return image.WrittenMemory;
    }

    /// <exception cref="InvalidDataException">The image is not for this app or this version of the binding.</exception>
    internal static void Restore(ImmortalRuntime runtime, ReadOnlySpan<byte> image)
    {
        try
        {
            var from = new CborReader(image);
            if (from.ReadArrayHeader() != 7) throw new InvalidDataException("The image is not one of this binding.");
            uint version = from.ReadUInt32();
            if (version != Version) throw new InvalidDataException($"The image has version {version}; this binding reads version {Version}.");
            ulong nextCall = from.ReadUInt64();
            int origins = from.ReadArrayHeader() / 2;
            for (uint i = 1; i <= origins; i++)
            {
                ushort shard = from.ReadUInt16();
                runtime.Origins.Add(i, new InstanceId(from.ReadString(), shard));
            }
            var graph = new GraphReader(runtime.TargetOf);
            graph.ReadAll(ref from);
            var outstanding = new IPendingCall[from.ReadArrayHeader()];
            for (int i = 0; i < outstanding.Length; i++) outstanding[i] = (IPendingCall)graph.ObjectOf(from.ReadUInt64());
            runtime.Calls.Restore(nextCall, outstanding);
            from.ReadArrayHeader();
            runtime.Surroundings.Restore(from.ReadInt64(), (ReplayedRandom)graph.ObjectOf(from.ReadUInt64()));
            runtime.Adopt((Immortal)graph.ObjectOf(0));
        }
        catch (Exception e) when (e is not (InvalidDataException or OutOfMemoryException))
        {
            throw new InvalidDataException($"The image is damaged: {e.Message}", e);
        }
    }
}
