using System.Buffers;
using System.ComponentModel;

namespace Ambrosia;

/// <summary>A message that is being encoded; what its body receives is sent by the method that ends it. Used by generated code.</summary>
[EditorBrowsable(EditorBrowsableState.Never)]
public readonly ref struct OutgoingMessage
{
    internal OutgoingMessage(IBufferWriter<byte> body, ulong call, uint method, bool isKeyed = false)
    {
        Body = body;
        CallId = call;
        Method = method;
        IsKeyed = isKeyed;
    }

    /// <summary>Where the arguments or the value go.</summary>
    public IBufferWriter<byte> Body { get; }

    /// <summary>Counter of the call id; 0 for forks and impulses.</summary>
    internal ulong CallId { get; }

    internal uint Method { get; }

    internal bool IsKeyed { get; }
}
