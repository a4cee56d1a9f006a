namespace Ambrosia;

/// <summary>A stretch of the app's output stream. The producer fills it from the front and links the next; the consumer follows.</summary>
internal sealed class OutboundChunk(int bytes)
{
    internal readonly byte[] Bytes = GC.AllocateUninitializedArray<byte>(bytes);

    /// <summary>Whole frames below this offset may be sent. Written by the producer, read by the consumer; never falls.</summary>
    internal int Published;

    /// <summary>Set once by the producer, after its last publication here.</summary>
    internal OutboundChunk? Next;

    internal void Clear()
    {
        Published = 0;
        Next = null;
    }
}
