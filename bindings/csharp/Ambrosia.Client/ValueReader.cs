using System.ComponentModel;

namespace Ambrosia.Client;

/// <summary>Decodes an answer. Used by generated code.</summary>
[EditorBrowsable(EditorBrowsableState.Never)]
public delegate T ValueReader<out T>(ReadOnlySpan<byte> value);
