using Ambrosia.Immortals;
using Ambrosia.State;

namespace Ambrosia;

/// <summary>
/// The base class of immortals. <typeparamref name="TProxy"/> is the proxy class that is generated for the contract they implement.
/// </summary>
[RemadeAtRestore]
public abstract class Immortal<TProxy> : Immortal
    where TProxy : ImmortalProxy, IImmortalProxy<TProxy>
{
    private TProxy _self;

    /// <exception cref="InvalidOperationException">The object is not being made by its session.</exception>
    protected Immortal() => _self = MakeSelf();

    /// <summary>
    /// A proxy of this immortal itself: what it sends comes back through the log. Any thread may use it; threads other than the handlers'
    /// send impulses.
    /// </summary>
    protected TProxy thisProxy => _self;

    internal override void Attach(ImmortalContext restoredBy)
    {
        base.Attach(restoredBy);
        _self = MakeSelf();
    }

    private TProxy MakeSelf() => TProxy.Create(Context.TargetOf(Context.Id));
}
