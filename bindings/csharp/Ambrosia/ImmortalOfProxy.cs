namespace Ambrosia;

/// <summary>
/// Base of immortals. <typeparamref name="TProxy"/> is the proxy class that is generated for the contract they implement.
/// </summary>
public abstract class Immortal<TProxy> : Immortal
    where TProxy : ImmortalProxy, IImmortalProxy<TProxy>
{
    private TProxy self;

    /// <exception cref="InvalidOperationException">The object is not being made by its session.</exception>
    protected Immortal() => self = MakeSelf();

    /// <summary>
    /// A proxy of this immortal itself: what it sends comes back through the log. Any thread may use it; threads other than the handlers'
    /// send impulses.
    /// </summary>
    protected TProxy thisProxy => self;

    internal override void Attach(ImmortalRuntime restoredBy)
    {
        base.Attach(restoredBy);
        self = MakeSelf();
    }

    private TProxy MakeSelf() => TProxy.Create(Runtime.TargetOf(Runtime.Id));
}
