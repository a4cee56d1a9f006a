namespace WebBank;

/// <summary>There is less money on an account than was to be taken. Callers of the bank know it, so it arrives as itself.</summary>
public sealed class NotEnoughException(string message) : Exception(message);
