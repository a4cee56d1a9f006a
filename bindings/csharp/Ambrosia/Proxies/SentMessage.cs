using System.ComponentModel;

namespace Ambrosia;

/// <summary>
/// Names a method of a contract and holds the arguments of one call of it. Generated code makes it, for people and for tests.
/// </summary>
/// <param name="Method">The name of the method in its contract, without an ending such as <c>…Async</c>.</param>
/// <param name="Arguments">The decoded arguments in their order. Spans and memories of bytes are arrays here.</param>
[EditorBrowsable(EditorBrowsableState.Never)]
public readonly record struct SentMessage(string Method, object?[] Arguments);
