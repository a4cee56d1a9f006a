using System.Buffers;
using System.ComponentModel;

namespace Ambrosia;

/// <summary>A message that is being encoded; what its body receives is sent by the method that ends it. Used by generated code.</summary>
[EditorBrowsable(EditorBrowsableState.Never)]
public readonly ref struct OutgoingMessage
{
    private readonly OutboundBuffer? numbered;
    private readonly ScratchBuffer? aside;

    /// <summary>A message of a handler: it takes its place in the output when it is committed.</summary>
    internal OutgoingMessage(OutboundBuffer numbered, ulong call, uint method)
    {
        this.numbered = numbered;
        CallId = call;
        Method = method;
    }

    /// <summary>An impulse, or an answer to a caller outside: encoded aside, since it is not, or not only, for the output.</summary>
    internal OutgoingMessage(ScratchBuffer aside, bool isKeyed = false)
    {
        this.aside = aside;
        IsKeyed = isKeyed;
    }

    /// <summary>Where the arguments or the value go, if their size is not known.</summary>
    public IBufferWriter<byte> Body => numbered is not null ? numbered : aside!;

    internal ScratchBuffer? Aside => aside;

    /// <summary>Counter of the call id; 0 for forks and impulses.</summary>
    internal ulong CallId { get; }

    internal uint Method { get; }

    internal bool IsKeyed { get; }

    /// <summary>Room for at least so many bytes; <see cref="Advance"/> keeps what was written of it.</summary>
    public Span<byte> Reserve(int bytes) => numbered is not null ? numbered.GetSpan(bytes) : aside!.GetSpan(bytes);

    public void Advance(long bytes)
    {
        if (numbered is not null) numbered.Advance((int)bytes);
        else aside!.Advance((int)bytes);
    }
}
