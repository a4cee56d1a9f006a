namespace Ambrosia;

/// <summary>
/// Marks a method that keeps the body which another method of the same class had in an earlier build. What is suspended in that body goes
/// on in this method; new calls run the method that <paramref name="method"/> names. Nobody calls a kept body: it is private, and no part
/// of a contract. Its body is a copy of the old one, and its parameters and its result are those of the method now.
/// </summary>
/// <param name="method">The name of the method whose body it was: <c>nameof(Charge)</c>.</param>
[AttributeUsage(AttributeTargets.Method, Inherited = false)]
public sealed class FormerlyAttribute(string method) : Attribute
{
    public string Method { get; } = method;
}
