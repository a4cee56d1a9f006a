using System.ComponentModel;

namespace Ambrosia;

/// <summary>Gives generated code the value of a handler's Call that finished after it was suspended.</summary>
[EditorBrowsable(EditorBrowsableState.Never)]
public readonly struct FinishedCall
{
    private readonly Source _source;

    internal FinishedCall(Source source, uint method)
    {
        _source = source;
        Method = method;
    }

    /// <summary>The id of the called method in its contract.</summary>
    public uint Method { get; }

    /// <summary>Gives the value, or throws the failure of the handler.</summary>
    public T Value<T>() => ((Source<T>)_source).Take();
}
