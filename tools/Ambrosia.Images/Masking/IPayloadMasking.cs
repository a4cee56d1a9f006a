namespace Ambrosia.Images.Masking;

/// <summary>Masks what an image holds of messages, encoded as these have it: it knows the contracts.</summary>
internal interface IPayloadMasking
{
    /// <summary>Masks an idempotency key.</summary>
    void Key(Span<byte> key);

    /// <summary>Masks the arguments of a method, or the value of a task's body if the method is null.</summary>
    void Arguments(uint? method, Span<byte> content);

    /// <summary>Masks the result of a method, or its failure.</summary>
    void Answer(uint method, bool isFailure, Span<byte> content);

    /// <summary>
    /// Returns the hash by which a repeated request is told from another one with its key, as the masked arguments have it.
    /// </summary>
    /// <param name="key">As it was.</param>
    /// <param name="hash">Of the arguments as they were.</param>
    ulong HashOf(uint method, ReadOnlySpan<byte> key, ulong hash);
}
