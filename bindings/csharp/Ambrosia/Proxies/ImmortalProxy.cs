using System.ComponentModel;
using Ambrosia.Impulses;
using Ambrosia.Messages;
using Ambrosia.Outbound;
using Ambrosia.Protocol.Payloads;
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

    /// <summary>The target by which another proxy speaks to the same instance.</summary>
    internal ProxyTarget Target => new(Sender, Destination);

    /// <summary>The name of the contract, for people.</summary>
    internal virtual string ContractName =>
        GetType().Name is var name && name.EndsWith("Proxy", StringComparison.Ordinal) ? name[..^"Proxy".Length] : name;

    internal Destination Destination => _destination ?? throw NotAttached();

    private MessageSender Sender => _sender ?? throw NotAttached();

    public override string ToString() => $"{ContractName}Proxy({_destination})";

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

    /// <summary>Names a method and decodes arguments, for people and for tests. Generated code overrides it.</summary>
    [EditorBrowsable(EditorBrowsableState.Never)]
    protected virtual SentMessage Describe(uint method, ReadOnlySpan<byte> arguments) => new($"0x{method:X}", []);

    /// <summary>
    /// Makes the exception of the contract that a failure is; null: it is none of the contract's. Generated code overrides it.
    /// </summary>
    /// <param name="typeName">The full name of the type, as the called instance says it.</param>
    [EditorBrowsable(EditorBrowsableState.Never)]
    protected virtual Exception? Failure(string typeName, string message, Exception? inner) => null;

    /// <summary>Gives the exception that who awaits a call gets.</summary>
    internal Exception FailureOf(RemoteCallException failure) =>
        Failure(failure.TypeName, failure.Message, failure.InnerException) ?? failure;

    internal SentMessage Described(uint method, ReadOnlySpan<byte> arguments) => Describe(method, arguments);

    /// <summary>Encodes a key of an impulse.</summary>
    /// <exception cref="ArgumentException">It has not 1 to 128 bytes, or holds half of a surrogate pair.</exception>
    [EditorBrowsable(EditorBrowsableState.Never)]
    protected byte[] KeyOf(string key) => KeyOf(
        Utf8Text.IsIdentity(key) ? Utf8Text.Identity(key) : throw new MisusedArgumentException(Misuse.KeyText));

    /// <inheritdoc cref="KeyOf(string)"/>
    [EditorBrowsable(EditorBrowsableState.Never)]
    protected byte[] KeyOf(ReadOnlySpan<byte> key) => new ImpulseKey(key).Bytes.ToArray();

    /// <summary>Begins a fork; its arguments are encoded into the message. Only handlers may.</summary>
    [EditorBrowsable(EditorBrowsableState.Never)]
    protected OutgoingMessage BeginFork(uint method, int argumentBytesHint = 0)
    {
        if (!Sender.Scheduler.IsExecuting) return BeginRecorded(method);
        return Sender.BeginFork(Destination, method, argumentBytesHint);
    }

    /// <summary>Sends a fork whose only argument is bytes.</summary>
    [EditorBrowsable(EditorBrowsableState.Never)]
    protected void SendForkOfBytes(uint method, ReadOnlySpan<byte> bytes)
    {
        if (Sender.Scheduler.IsExecuting) Sender.Outbound.Append(Destination, MessageKind.Fork, method, bytes);
        else RecordFork(method, bytes);
    }

    /// <summary>Begins a call; its arguments are encoded into the message. Only handlers may.</summary>
    [EditorBrowsable(EditorBrowsableState.Never)]
    protected OutgoingMessage BeginCall(uint method, int argumentBytesHint = 0)
    {
        if (!Sender.Scheduler.IsExecuting) return BeginRecorded(method);
        return Sender.BeginCall(Destination, method, argumentBytesHint);
    }

    /// <summary>Begins a fork where the caller is a handler, an impulse elsewhere.</summary>
    [EditorBrowsable(EditorBrowsableState.Never)]
    protected OutgoingMessage BeginImpulseFork(uint method, ImpulseKey key, int argumentBytesHint = 0)
    {
        if (!Sender.Scheduler.IsExecuting) return BeginImpulse(method, key);
        ImpulseIngress.RefuseKey(key);
        return Sender.BeginFork(Destination, method, argumentBytesHint);
    }

    /// <summary>Begins an impulse whose sender waits until it is logged; <see cref="SendLogged"/> sends it.</summary>
    /// <exception cref="InvalidOperationException">The caller is a handler, for which there is nothing to log.</exception>
    [EditorBrowsable(EditorBrowsableState.Never)]
    protected OutgoingMessage BeginLogged(uint method, ImpulseKey key)
    {
        if (Sender.Scheduler.IsExecuting) throw new BindingMisuseException(Misuse.LoggedInHandler);
        return BeginImpulse(method, key);
    }

    /// <summary>Sends a fork, or an impulse that nobody awaits.</summary>
    [EditorBrowsable(EditorBrowsableState.Never)]
    protected void SendFork(OutgoingMessage message)
    {
        if (message.Aside is null) Sender.Outbound.Commit();
        else SendAside(message);
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
        if (Sender.Recorder is { } recorder)
        {
            recorder.Record(this, MessageKind.Impulse, message.Method, message.Aside!.Written, null);
            return default;
        }
        var logged = new LoggedImpulse();
        Sender.Impulses.Send(Destination, message, logged);
        return new Call(logged);
    }

    // What a unit test and a thread beside the handlers do stands apart, so that a handler's way stays short enough to be inlined.
    private void SendAside(OutgoingMessage message)
    {
        if (Sender.Recorder is { } recorder) recorder.Record(this, MessageKind.Fork, message.Method, message.Aside!.Written, null);
        else Sender.Impulses.Send(Destination, message, null);
    }

    private void RecordFork(uint method, ReadOnlySpan<byte> bytes)
    {
        BeginRecorded(method);
        Sender.Recorder!.Record(this, MessageKind.Fork, method, bytes, null);
    }

    private OutgoingMessage BeginImpulse(uint method, ImpulseKey key) =>
        Sender.Recorder is null ? Sender.Impulses.Begin(method, key) : BeginRecorded(method, key);

    /// <summary>Begins a message where no handler of a session runs: in a unit test.</summary>
    /// <exception cref="InvalidOperationException">It is no test, and only impulses are sent from here.</exception>
    private OutgoingMessage BeginRecorded(uint method, ImpulseKey key = default)
    {
        ICallRecorder recorder = Sender.Recorder ?? throw Sender.Impulses.NotAnImpulse();
        recorder.Begin(key.Bytes);
        return new OutgoingMessage(ScratchBuffer.Begin(), method);
    }

    private static InvalidOperationException NotAttached() => new("This proxy belongs to no immortal: get it with GetProxy.");
}
