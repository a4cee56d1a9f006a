namespace Ambrosia;

/// <summary>Base of immortals. <typeparamref name="TProxy"/> is the proxy class that is generated for the contract they implement.</summary>
public abstract class Immortal<TProxy> : Immortal
    where TProxy : ImmortalProxy, IImmortalProxy<TProxy>
{
    private TProxy? self;

    /// <summary>A proxy of this immortal itself: what it sends comes back through the log.</summary>
    protected TProxy thisProxy => self ??= TProxy.Create(Runtime.TargetOf(Runtime.Id));

    internal override void Attach(ImmortalRuntime restoredBy)
    {
        base.Attach(restoredBy);
        self = null;
    }
}
