using System.ComponentModel;

namespace Ambrosia;

/// <summary>A handler's Call that finished after it was suspended, with its value. Used by generated code.</summary>
[EditorBrowsable(EditorBrowsableState.Never)]
public readonly struct FinishedCall
{
    private readonly Source source;

    internal FinishedCall(Source source, uint method)
    {
        this.source = source;
        Method = method;
    }

    public uint Method { get; }

    public T Value<T>() => ((Source<T>)source).Take();
}
