namespace Ambrosia;

/// <summary>
/// Says that a failure of a contract's methods is an exception type that both sides know: it arrives as itself, where others arrive as
/// <see cref="RemoteCallException"/>. On the interface it is for all methods. What travels is the message, so the type has a public
/// constructor that takes one, and no state of its own.
/// </summary>
/// <param name="failure">A class that derives from <see cref="Exception"/>.</param>
[AttributeUsage(AttributeTargets.Interface | AttributeTargets.Method, AllowMultiple = true)]
public sealed class ThrowsAttribute(Type failure) : Attribute
{
    public Type Failure { get; } = failure;
}
