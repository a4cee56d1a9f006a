using System.ComponentModel;

namespace Ambrosia;

/// <summary>
/// Makes the proxy that <c>GetProxy&lt;IFoo&gt;(name)</c> asks for: it converts to the generated <c>IFooProxy</c>. <typeparamref name="T"/>
/// is the contract or its proxy class.
/// </summary>
public readonly struct ProxyOf<T>
{
    internal ProxyOf(ProxyTarget target) => Target = target;

    /// <summary>The instance for which the proxy is made.</summary>
    [EditorBrowsable(EditorBrowsableState.Never)]
    public ProxyTarget Target { get; }
}
