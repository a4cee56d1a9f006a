using System.Buffers.Binary;

namespace Ambrosia.Protocol;

/// <summary>
/// The numbers that the last claims of an instance have drawn, oldest first (protocol P6.12). Two copies of a log that both go on have
/// drawn different numbers for one epoch, so a peer that remembers one of them knows the other. Epochs ascend, numbers are not 0, and
/// there are at most <see cref="CountMax"/>. Values are immutable.
/// </summary>
public sealed class ClaimHistory : IEquatable<ClaimHistory>
{
    /// <summary>An older claim than these is forgotten.</summary>
    public const int CountMax = 16;

    /// <summary>The bytes of one claim: u64 epoch · u64 number.</summary>
    public const int ClaimBytes = 2 * sizeof(ulong);

    private readonly (Epoch Epoch, ulong Number)[] _claims;

    private ClaimHistory((Epoch Epoch, ulong Number)[] claims) => _claims = claims;

    /// <summary>Gets the history of an instance of which nothing is known.</summary>
    public static ClaimHistory None { get; } = new([]);

    /// <summary>Gets the newest claim; epoch 0 and number 0 where there is none.</summary>
    public (Epoch Epoch, ulong Number) Last => _claims.Length > 0 ? _claims[^1] : default;

    /// <summary>Returns this history with a later claim at its end.</summary>
    /// <param name="number">0: the claim has drawn none, and the history is as it was.</param>
    public ClaimHistory With(Epoch epoch, ulong number)
    {
        if (number == 0) return this;
        return new([.. _claims.Where(claim => claim.Epoch < epoch).TakeLast(CountMax - 1), (epoch, number)]);
    }

    /// <summary>Returns the number of an epoch's claim; 0 where it is not known.</summary>
    public ulong NumberOf(Epoch epoch) => Array.Find(_claims, claim => claim.Epoch == epoch).Number;

    /// <summary>True when this history has another claim of that epoch. A number of 0 is not known, and contradicts nothing.</summary>
    public bool Contradicts((Epoch Epoch, ulong Number) claim) =>
        claim.Number != 0 && NumberOf(claim.Epoch) is var own && own != 0 && own != claim.Number;

    /// <summary>True when this history has that claim.</summary>
    public bool Has((Epoch Epoch, ulong Number) claim) => claim.Number != 0 && NumberOf(claim.Epoch) == claim.Number;

    public byte[] ToBytes()
    {
        var bytes = new byte[_claims.Length * ClaimBytes];
        for (int i = 0; i < _claims.Length; i++)
        {
            Span<byte> to = bytes.AsSpan(i * ClaimBytes);
            BinaryPrimitives.WriteUInt64LittleEndian(to, _claims[i].Epoch.Value);
            BinaryPrimitives.WriteUInt64LittleEndian(to[sizeof(ulong)..], _claims[i].Number);
        }
        return bytes;
    }

    /// <summary>Reads what <see cref="ToBytes"/> wrote; null: it is no history.</summary>
    public static ClaimHistory? TryRead(ReadOnlySpan<byte> bytes)
    {
        if (bytes.Length % ClaimBytes != 0 || bytes.Length / ClaimBytes > CountMax) return null;
        var claims = new (Epoch Epoch, ulong Number)[bytes.Length / ClaimBytes];
        Epoch before = default;
        for (int i = 0; i < claims.Length; i++)
        {
            ReadOnlySpan<byte> from = bytes[(i * ClaimBytes)..];
            claims[i] = (new Epoch(BinaryPrimitives.ReadUInt64LittleEndian(from)),
                BinaryPrimitives.ReadUInt64LittleEndian(from[sizeof(ulong)..]));
            if (claims[i].Epoch <= before || claims[i].Number == 0) return null;
            before = claims[i].Epoch;
        }
        return claims.Length == 0 ? None : new ClaimHistory(claims);
    }

    public bool Equals(ClaimHistory? other) => other is not null && _claims.SequenceEqual(other._claims);

    public override bool Equals(object? obj) => Equals(obj as ClaimHistory);

    public override int GetHashCode() => Last.GetHashCode();
}
