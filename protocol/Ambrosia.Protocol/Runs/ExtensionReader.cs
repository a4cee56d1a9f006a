using Ambrosia.Protocol.Payloads;

namespace Ambrosia.Protocol.Runs;

/// <summary>Walks the extension blocks of a run (protocol P3.7). Contents are views on the run.</summary>
public ref struct ExtensionReader(ReadOnlySpan<byte> blocks)
{
    private PayloadReader _from = PayloadReader.OfFrame(blocks, "P3.7");

    public ExtensionType Type { get; private set; }
    public ulong Version { get; private set; }
    public ReadOnlySpan<byte> Content { get; private set; }

    /// <summary>Goes to the next block; returns false after the last.</summary>
    /// <exception cref="ProtocolViolation">P3.7, P1.2 or P1.3: a block that is cut off or malformed.</exception>
    public bool Next()
    {
        if (_from.Left == 0) return false;
        Type = (ExtensionType)_from.Varint();
        Version = _from.Varint();
        Content = _from.Bytes(_from.Left);
        return true;
    }
}

/// <summary>Names the types of extension blocks that have a meaning (protocol P3.7). All others are carried untouched.</summary>
public enum ExtensionType : ulong { TraceContext = 1, FailureStack = 2, ObjectKey = 3, BucketEpoch = 4, Cause = 5 }
