namespace Ambrosia;

/// <summary>
/// Marks a method of a contract that reads: callers outside are answered out of the state of any replica, without the log. It returns its
/// value at once; it changes nothing, sends nothing and awaits nothing.
/// </summary>
[AttributeUsage(AttributeTargets.Method)]
public sealed class QueryAttribute : Attribute;
