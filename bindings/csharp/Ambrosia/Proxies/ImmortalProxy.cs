using System.ComponentModel;

namespace Ambrosia;

/// <summary>
/// Base of the generated proxies. On the handlers' thread its methods send numbered messages, which replay regenerates; elsewhere they
/// send impulses, if the method is an impulse handler, and are refused if not.
/// </summary>
public abstract class ImmortalProxy
{
    private ImmortalRuntime? runtime;
    private Destination? destination;

    protected ImmortalProxy(ProxyTarget target) => Attach(target);

    /// <summary>Name of the instance that it speaks to.</summary>
    public string InstanceName => Destination.Id.Name;

    internal Destination Destination => destination ?? throw NotAttached();

    private ImmortalRuntime Runtime => runtime ?? throw NotAttached();

    public override string ToString() => $"{GetType().Name}({destination})";

    /// <summary>Gives a restored proxy its session.</summary>
    internal void Attach(ProxyTarget target)
    {
        runtime = target.Runtime;
        destination = target.Destination;
    }

    internal void Take(ArrivedResult result) => Complete(result);

    /// <summary>Decodes the result of a call that was made through a proxy of this class. Generated.</summary>
    [EditorBrowsable(EditorBrowsableState.Never)]
    protected virtual void Complete(ArrivedResult result) => result.Complete();

    [EditorBrowsable(EditorBrowsableState.Never)]
    protected OutgoingMessage BeginFork(uint method, int argumentBytesHint = 0)
    {
        if (!Runtime.Scheduler.IsExecuting) throw Runtime.Impulses.NotAnImpulse();
        return Runtime.BeginFork(Destination, method, argumentBytesHint);
    }

    /// <summary>A fork whose only argument is bytes.</summary>
    [EditorBrowsable(EditorBrowsableState.Never)]
    protected void SendForkOfBytes(uint method, ReadOnlySpan<byte> bytes)
    {
        if (!Runtime.Scheduler.IsExecuting) throw Runtime.Impulses.NotAnImpulse();
        Runtime.Outbound.Append(Destination, Protocol.MessageKind.Fork, method, bytes);
    }

    [EditorBrowsable(EditorBrowsableState.Never)]
    protected OutgoingMessage BeginCall(uint method, int argumentBytesHint = 0)
    {
        if (!Runtime.Scheduler.IsExecuting) throw Runtime.Impulses.NotAnImpulse();
        return Runtime.BeginCall(Destination, method, argumentBytesHint);
    }

    /// <summary>A fork where the caller is a handler, an impulse elsewhere.</summary>
    [EditorBrowsable(EditorBrowsableState.Never)]
    protected OutgoingMessage BeginImpulseFork(uint method, ImpulseKey key, int argumentBytesHint = 0)
    {
        if (!Runtime.Scheduler.IsExecuting) return Runtime.Impulses.Begin(method, key);
        ImpulseDoor.RefuseKey(key);
        return Runtime.BeginFork(Destination, method, argumentBytesHint);
    }

    /// <summary>A call where the caller is a handler, an impulse elsewhere.</summary>
    [EditorBrowsable(EditorBrowsableState.Never)]
    protected OutgoingMessage BeginImpulseCall(uint method, ImpulseKey key, int argumentBytesHint = 0)
    {
        if (!Runtime.Scheduler.IsExecuting) return Runtime.Impulses.Begin(method, key);
        ImpulseDoor.RefuseKey(key);
        return Runtime.BeginCall(Destination, method, argumentBytesHint);
    }

    [EditorBrowsable(EditorBrowsableState.Never)]
    protected void SendFork(OutgoingMessage message)
    {
        if (message.Aside is not null) Runtime.Impulses.Send(Destination, message, null);
        else Runtime.Outbound.Commit();
    }

    [EditorBrowsable(EditorBrowsableState.Never)]
    protected Call SendCall(OutgoingMessage message)
    {
        if (message.Aside is null) return new Call(Runtime.SendCall<Nothing>(this, message));
        var logged = new LoggedImpulse();
        Runtime.Impulses.Send(Destination, message, logged);
        return new Call(logged);
    }

    [EditorBrowsable(EditorBrowsableState.Never)]
    protected Call<T> SendCall<T>(OutgoingMessage message) => new(Runtime.SendCall<T>(this, message));

    private static InvalidOperationException NotAttached() => new("This proxy belongs to no immortal: get it with GetProxy.");
}
