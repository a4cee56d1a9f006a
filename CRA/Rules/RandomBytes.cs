namespace CRA;

/// <summary>The randomness seam: fills the whole span. In production the system's source that is fit for cryptography.</summary>
public delegate void RandomBytes(Span<byte> fill);
