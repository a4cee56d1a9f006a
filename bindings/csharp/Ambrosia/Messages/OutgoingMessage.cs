using System.Buffers;
using System.ComponentModel;

namespace Ambrosia;

/// <summary>A message that is being encoded; what its body receives is sent by the method that ends it. Used by generated code.</summary>
[EditorBrowsable(EditorBrowsableState.Never)]
public readonly ref struct OutgoingMessage
{
    private readonly OutboundBuffer? numbered;
    private readonly ScratchBuffer? impulse;

    /// <summary>A message of a handler: it takes its place in the output when it is committed.</summary>
    internal OutgoingMessage(OutboundBuffer numbered, ulong call, uint method)
    {
        this.numbered = numbered;
        CallId = call;
        Method = method;
    }

    /// <summary>An impulse, encoded aside.</summary>
    internal OutgoingMessage(ScratchBuffer impulse, bool isKeyed)
    {
        this.impulse = impulse;
        IsKeyed = isKeyed;
    }

    /// <summary>Where the arguments or the value go, if their size is not known.</summary>
    public IBufferWriter<byte> Body => numbered is not null ? numbered : impulse!;

    internal ScratchBuffer? Impulse => impulse;

    /// <summary>Counter of the call id; 0 for forks and impulses.</summary>
    internal ulong CallId { get; }

    internal uint Method { get; }

    internal bool IsKeyed { get; }

    /// <summary>Room for at least so many bytes; <see cref="Advance"/> keeps what was written of it.</summary>
    public Span<byte> Reserve(int bytes) => numbered is not null ? numbered.GetSpan(bytes) : impulse!.GetSpan(bytes);

    public void Advance(long bytes)
    {
        if (numbered is not null) numbered.Advance((int)bytes);
        else impulse!.Advance((int)bytes);
    }
}
