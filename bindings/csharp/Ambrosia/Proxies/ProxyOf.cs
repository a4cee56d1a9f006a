using System.ComponentModel;

namespace Ambrosia;

/// <summary>
/// Speaks to an instance by the contract <typeparamref name="T"/>: <c>GetProxy&lt;IFoo&gt;(name)</c> gives it. The generator writes the
/// methods of the contract for it (<c>…Async</c>, <c>…Fork</c>, <c>…Logged</c>), and it converts to the generated class <c>IFooProxy</c>,
/// which has the same. Either may be kept in the state.
/// </summary>
public sealed class ProxyOf<T> : ImmortalProxy
{
    /// <summary>The generated proxy to the same instance, from the first time that it is asked for.</summary>
    private ImmortalProxy? _typed;

    internal ProxyOf(ProxyTarget target)
        : base(target)
    {
    }

    /// <summary>Gives the generated proxy of the contract. Generated code uses it.</summary>
    [EditorBrowsable(EditorBrowsableState.Never)]
    public TProxy As<TProxy>()
        where TProxy : ImmortalProxy, IImmortalProxy<TProxy>
    {
        if (_typed is TProxy typed) return typed;
        var made = TProxy.Create(Target);
        _typed = made;
        return made;
    }

    internal override string ContractName => typeof(T).Name;
}
