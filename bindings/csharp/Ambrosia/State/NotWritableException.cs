namespace Ambrosia;

/// <summary>Something in the immortal's state cannot be part of a checkpoint; the message names the field and its type.</summary>
public sealed class NotWritableException(string message) : Exception(message);
