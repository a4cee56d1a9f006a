namespace Ambrosia;

/// <summary>An immortal that has lived the past again does not do what it must. Its message says in lines what it does.</summary>
public sealed class ReplayException : Exception
{
    internal ReplayException(IEnumerable<string> lines) : base(string.Join(Environment.NewLine, lines)) { }
}
