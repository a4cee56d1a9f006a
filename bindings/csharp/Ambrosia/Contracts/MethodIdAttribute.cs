namespace Ambrosia;

/// <summary>
/// Gives a method of a contract its number on the wire, 1 to 2³¹−1, instead of the hash of its name (protocol P4.5). A method keeps
/// its meaning when it is renamed, and numbers below 128 take one byte a message instead of five.
/// </summary>
[AttributeUsage(AttributeTargets.Method, Inherited = false)]
public sealed class MethodIdAttribute(int id) : Attribute
{
    public int Id { get; } = id;
}
