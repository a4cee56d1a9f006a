using System.ComponentModel;
using Ambrosia.Protocol;

namespace Ambrosia;

/// <summary>Writes and reads the fields of one type in images. Generated code derives from it.</summary>
[EditorBrowsable(EditorBrowsableState.Never)]
public abstract class StateCodec
{
    private protected StateCodec()
    {
    }

    /// <summary>
    /// The names of the fields in the order in which they are written: base class first, then as declared. They are those that an image
    /// holds.
    /// </summary>
    public abstract string[] Names { get; }

    internal abstract Type Type { get; }

    internal abstract void WriteBoxed(GraphWriter graph, ref CborWriter to, object instance);

    internal abstract void ReadBoxed(GraphReader graph, ref CborReader from, ReadOnlySpan<int> fields, object instance);
}
