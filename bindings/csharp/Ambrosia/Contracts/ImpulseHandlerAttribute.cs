namespace Ambrosia;

/// <summary>
/// Marks a method of a contract as the entry of input from outside (another thread, a console, a sensor): its arguments are logged
/// before the handler sees them. It returns nothing or <see cref="Call"/>, since nobody outside waits for a result.
/// </summary>
[AttributeUsage(AttributeTargets.Method, Inherited = false)]
public sealed class ImpulseHandlerAttribute : Attribute;
