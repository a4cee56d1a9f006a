using System.ComponentModel;

namespace Ambrosia;

/// <summary>Lets the binding make proxies without reflection. Implemented by generated code.</summary>
[EditorBrowsable(EditorBrowsableState.Never)]
public interface IImmortalProxy<TSelf>
    where TSelf : ImmortalProxy, IImmortalProxy<TSelf>
{
    static abstract TSelf Create(ProxyTarget target);
}
