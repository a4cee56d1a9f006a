using System.ComponentModel;

namespace Ambrosia;

/// <summary>Lets the binding make proxies without reflection. Generated code implements it.</summary>
[EditorBrowsable(EditorBrowsableState.Never)]
public interface IImmortalProxy<TSelf>
    where TSelf : ImmortalProxy, IImmortalProxy<TSelf>
{
    /// <summary>Makes a proxy that speaks to <paramref name="target"/>.</summary>
    static abstract TSelf Create(ProxyTarget target);
}
