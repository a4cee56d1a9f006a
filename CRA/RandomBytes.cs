namespace CRA;

/// <summary>
/// The seam to randomness, which fills the whole span. In production it is the system's source that is fit for cryptography.
/// </summary>
public delegate void RandomBytes(Span<byte> fill);
