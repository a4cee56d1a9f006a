using Ambrosia.Immortals;
using Ambrosia.State;

namespace Ambrosia;

/// <summary>
/// The base class of immortals. <typeparamref name="T"/> is the contract that they implement, <c>Immortal&lt;IFoo&gt;</c>, or the proxy
/// class that is generated for it, <c>Immortal&lt;IFooProxy&gt;</c>, which says the same.
/// </summary>
[RemadeAtRestore]
public abstract class Immortal<T> : Immortal
{
    private ProxyOf<T> _self;

    /// <exception cref="InvalidOperationException">A handler makes an immortal.</exception>
    protected Immortal() => _self = MakeSelf();

    /// <summary>
    /// A proxy of this immortal itself: what it sends comes back through the log. Any thread may use it; threads other than the handlers'
    /// send impulses. The generated part of an immortal gives it as the generated proxy class.
    /// </summary>
    protected ProxyOf<T> thisProxy => _self;

    internal override void Attach(ImmortalContext restoredBy)
    {
        base.Attach(restoredBy);
        _self = MakeSelf();
    }

    private ProxyOf<T> MakeSelf() => new(Context.TargetOf(Context.Id));
}
