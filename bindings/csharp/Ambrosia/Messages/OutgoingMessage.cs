using System.Buffers;
using System.ComponentModel;
using Ambrosia.Messages;
using Ambrosia.Outbound;

namespace Ambrosia;

/// <summary>
/// Takes a message while it is encoded; the method that ends the message sends what its body received. Generated code uses it.
/// </summary>
[EditorBrowsable(EditorBrowsableState.Never)]
public readonly ref struct OutgoingMessage
{
    private readonly OutboundBuffer? _numbered;
    private readonly ScratchBuffer? _aside;

    /// <summary>Makes a message of a handler: it takes its place in the output when it is committed.</summary>
    internal OutgoingMessage(OutboundBuffer numbered, ulong call, uint method)
    {
        _numbered = numbered;
        CallId = call;
        Method = method;
    }

    /// <summary>
    /// Makes an impulse, or an answer to a caller outside. It is encoded aside, since it is not, or not only, for the output.
    /// </summary>
    internal OutgoingMessage(ScratchBuffer aside, bool isKeyed = false)
    {
        _aside = aside;
        IsKeyed = isKeyed;
    }

    /// <summary>Makes a message that a unit test records: its body is the arguments alone.</summary>
    internal OutgoingMessage(ScratchBuffer recorded, uint method)
    {
        _aside = recorded;
        Method = method;
    }

    /// <summary>Takes the arguments or the value, if their size is not known.</summary>
    public IBufferWriter<byte> Body => _numbered is not null ? _numbered : _aside!;

    internal ScratchBuffer? Aside => _aside;

    /// <summary>The counter of the call id; 0 for forks and impulses.</summary>
    internal ulong CallId { get; }

    internal uint Method { get; }

    internal bool IsKeyed { get; }

    /// <summary>Gives room for at least so many bytes; <see cref="Advance"/> keeps what was written of it.</summary>
    public Span<byte> Reserve(int bytes) => _numbered is not null ? _numbered.GetSpan(bytes) : _aside!.GetSpan(bytes);

    /// <summary>Keeps the first <paramref name="bytes"/> bytes of what <see cref="Reserve"/> gave.</summary>
    public void Advance(long bytes)
    {
        if (_numbered is not null) _numbered.Advance((int)bytes);
        else _aside!.Advance((int)bytes);
    }
}
