using System.ComponentModel;

namespace Ambrosia;

/// <summary>
/// What <c>GetProxy&lt;IFoo&gt;(name)</c> returns: converts to the generated <c>IFooProxy</c>. <typeparamref name="T"/> is the contract
/// or its proxy class.
/// </summary>
public readonly struct ProxyOf<T>
{
    internal ProxyOf(ProxyTarget target) => Target = target;

    [EditorBrowsable(EditorBrowsableState.Never)]
    public ProxyTarget Target { get; }
}
