namespace Ambrosia.Protocol;

/// <summary>An encoded argument, value or state could not be read. Deterministic: the same bytes always fail at the same place.</summary>
public sealed class CborException(CborError error, int offset, string what) : Exception($"{what} at byte {offset}")
{
    public CborError Error { get; } = error;

    /// <summary>Where in the bytes given to the reader.</summary>
    public int Offset { get; } = offset;
}
