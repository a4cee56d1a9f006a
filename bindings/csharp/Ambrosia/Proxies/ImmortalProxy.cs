using System.ComponentModel;
using Ambrosia.Impulses;
using Ambrosia.Outbound;
using Ambrosia.Protocol.Runs;
using Ambrosia.Proxies;
using Ambrosia.State;

namespace Ambrosia;

/// <summary>
/// The base of the generated proxies. On the handlers' thread its methods send numbered messages, which replay regenerates; elsewhere they
/// send impulses, if the method is an impulse handler, and are refused if not.
/// </summary>
[ImageShape(typeof(ProxyShape))]
public abstract class ImmortalProxy
{
    private MessageSender? _sender;
    private Destination? _destination;

    protected ImmortalProxy(ProxyTarget target) => Attach(target);

    /// <summary>The name of the instance to which it speaks.</summary>
    public string InstanceName => Destination.Id.Name;

    internal Destination Destination => _destination ?? throw NotAttached();

    private MessageSender Sender => _sender ?? throw NotAttached();

    public override string ToString() => $"{GetType().Name}({_destination})";

    /// <summary>Gives a restored proxy its session and destination.</summary>
    internal void Attach(ProxyTarget target)
    {
        _sender = target.Sender;
        _destination = target.Destination;
    }

    internal void Take(ArrivedResult result) => Complete(result);

    /// <summary>Decodes the result of a call that was made through a proxy of this class. Generated code overrides it.</summary>
    [EditorBrowsable(EditorBrowsableState.Never)]
    protected virtual void Complete(ArrivedResult result) => result.Complete();

    /// <summary>Begins a fork; its arguments are encoded into the message. Only handlers may.</summary>
    [EditorBrowsable(EditorBrowsableState.Never)]
    protected OutgoingMessage BeginFork(uint method, int argumentBytesHint = 0)
    {
        if (!Sender.Scheduler.IsExecuting) throw Sender.Impulses.NotAnImpulse();
        return Sender.BeginFork(Destination, method, argumentBytesHint);
    }

    /// <summary>Sends a fork whose only argument is bytes.</summary>
    [EditorBrowsable(EditorBrowsableState.Never)]
    protected void SendForkOfBytes(uint method, ReadOnlySpan<byte> bytes)
    {
        if (!Sender.Scheduler.IsExecuting) throw Sender.Impulses.NotAnImpulse();
        Sender.Outbound.Append(Destination, MessageKind.Fork, method, bytes);
    }

    /// <summary>Begins a call; its arguments are encoded into the message. Only handlers may.</summary>
    [EditorBrowsable(EditorBrowsableState.Never)]
    protected OutgoingMessage BeginCall(uint method, int argumentBytesHint = 0)
    {
        if (!Sender.Scheduler.IsExecuting) throw Sender.Impulses.NotAnImpulse();
        return Sender.BeginCall(Destination, method, argumentBytesHint);
    }

    /// <summary>Begins a fork where the caller is a handler, an impulse elsewhere.</summary>
    [EditorBrowsable(EditorBrowsableState.Never)]
    protected OutgoingMessage BeginImpulseFork(uint method, ImpulseKey key, int argumentBytesHint = 0)
    {
        if (!Sender.Scheduler.IsExecuting) return Sender.Impulses.Begin(method, key);
        ImpulseIngress.RefuseKey(key);
        return Sender.BeginFork(Destination, method, argumentBytesHint);
    }

    /// <summary>Begins an impulse whose sender waits until it is logged; <see cref="SendLogged"/> sends it.</summary>
    /// <exception cref="InvalidOperationException">The caller is a handler, for which there is nothing to log.</exception>
    [EditorBrowsable(EditorBrowsableState.Never)]
    protected OutgoingMessage BeginLogged(uint method, ImpulseKey key)
    {
        if (Sender.Scheduler.IsExecuting) throw new BindingMisuseException(Misuse.LoggedInHandler);
        return Sender.Impulses.Begin(method, key);
    }

    /// <summary>Sends a fork, or an impulse that nobody awaits.</summary>
    [EditorBrowsable(EditorBrowsableState.Never)]
    protected void SendFork(OutgoingMessage message)
    {
        if (message.Aside is not null) Sender.Impulses.Send(Destination, message, null);
        else Sender.Outbound.Commit();
    }

    /// <summary>Sends a call without a result, or an impulse whose logging can be awaited.</summary>
    [EditorBrowsable(EditorBrowsableState.Never)]
    protected Call SendCall(OutgoingMessage message) => new(Sender.SendCall<Nothing>(this, message));

    [EditorBrowsable(EditorBrowsableState.Never)]
    protected Call<T> SendCall<T>(OutgoingMessage message) => new(Sender.SendCall<T>(this, message));

    /// <summary>Sends an impulse; the call completes when it is logged.</summary>
    [EditorBrowsable(EditorBrowsableState.Never)]
    protected Call SendLogged(OutgoingMessage message)
    {
        var logged = new LoggedImpulse();
        Sender.Impulses.Send(Destination, message, logged);
        return new Call(logged);
    }

    private static InvalidOperationException NotAttached() => new("This proxy belongs to no immortal: get it with GetProxy.");
}
