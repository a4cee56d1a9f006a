using Ambrosia.Protocol;

namespace Ambrosia;

/// <summary>
/// Says how values of a type that is no plain data (a type of a library, one with caches inside, a compact form of your own) stand in
/// checkpoints; see <see cref="StateSerializerAttribute"/>. One object of the class serves the whole process, from any thread.
/// </summary>
public interface IStateSerializer<T>
{
    /// <summary>
    /// Writes exactly one CBOR item, the same for equal values on every machine: checkpoints of replicas are compared byte by byte.
    /// </summary>
    void Write(ref CborWriter to, T value);

    /// <summary>Reads that item to its end, also as earlier versions of the app wrote it. The result is never null.</summary>
    T Read(ref CborReader from);
}
