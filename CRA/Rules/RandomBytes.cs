namespace CRA;

/// <summary>The randomness seam: fills the whole span. In production <see cref="System.Security.Cryptography.RandomNumberGenerator.Fill"/>.</summary>
public delegate void RandomBytes(Span<byte> fill);
