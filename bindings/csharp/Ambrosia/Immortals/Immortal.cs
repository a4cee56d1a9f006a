using System.ComponentModel;
using Ambrosia.Immortals;
using Ambrosia.Protocol;
using Ambrosia.State;
using Ambrosia.Tasks;
using Ambrosia.Timers;

namespace Ambrosia;

/// <summary>
/// A stateful service written as if machines never failed. Derive from <see cref="Immortal{T}"/>. Its handlers run on one thread in
/// the order of the log; its state is its instance fields, except those marked <see cref="NotStateAttribute"/> (with
/// <c>[DataContract]</c>: only those marked <c>[DataMember]</c>). The constructor runs once in the life of an instance: it is part of
/// the first record, so what it sends is replayed like anything else.
/// </summary>
[RemadeAtRestore]
public abstract partial class Immortal : ITimerOwner
{
    private ImmortalContext? _context;

    /// <summary>
    /// The session of an instance calls it, once in the instance's life. In a unit test whoever says <c>new</c> calls it: then there is no
    /// log, and <see cref="TestSession"/> stands for all that is outside.
    /// </summary>
    /// <exception cref="InvalidOperationException">A handler makes an immortal.</exception>
    protected Immortal() => _context = ImmortalHost.TakeConstructing(this);

    /// <summary>
    /// True once this replica is becoming primary, from shortly before <see cref="BecomingPrimary"/> on. Nothing that handlers do may
    /// depend on it.
    /// </summary>
    protected bool IsPrimary => Context.IsPrimary;

    /// <summary>The name of this instance.</summary>
    protected string InstanceName => Context.Id.Name;

    OutstandingTimers ITimerOwner.Timers => Context.Timers;

    internal ImmortalContext Context => _context
        ?? throw new BindingMisuseException(Misuse.NoSession);

    /// <summary>
    /// The services of the host, for the threads that <see cref="BecomingPrimary"/> starts. What needs a scope makes one of its own. Bodies
    /// of tasks have <see cref="NondetContext.Services"/>.
    /// </summary>
    /// <exception cref="InvalidOperationException">A handler or a query asks; or the process was not made with
    /// Ambrosia.Hosting.</exception>
    protected IServiceProvider OutsideServices => HostServices.RootOf(Context.Services);

    /// <summary>Runs once in the life of an instance, after the constructor; it is replayed like any handler.</summary>
    protected virtual void OnFirstStart()
    {
    }

    /// <summary>
    /// Runs when an upgrade has brought this class into force, behind the constructor that took over the old state, which may send nothing
    /// and set no timer; here both are allowed. It is replayed like any handler.
    /// </summary>
    /// <param name="from">The app version before.</param>
    protected virtual void OnUpgraded(uint from)
    {
    }

    /// <summary>
    /// Runs when this replica has caught up and begins to accept input; it is not replayed. Start the threads that gather impulses here.
    /// What is sent from here is an impulse.
    /// </summary>
    protected virtual void BecomingPrimary()
    {
    }

    /// <summary>
    /// Gathers input that is sent as impulses, for as long as this process is primary. It runs on the thread pool, behind
    /// <see cref="BecomingPrimary"/> and beside the handlers. It is not replayed and must not touch the state. What it throws ends the
    /// process, as an exception of a thread does; where it returns, nothing ends.
    /// </summary>
    /// <param name="ended">Cancelled when the session with the coordinator has ended.</param>
    protected virtual Task WhilePrimary(CancellationToken ended) => Task.CompletedTask;

    /// <summary>
    /// Gives a proxy of the instance <paramref name="instanceName"/>, whose contract is <typeparamref name="T"/>.
    /// </summary>
    /// <exception cref="ArgumentException">It is not an instance name.</exception>
    /// <exception cref="InvalidOperationException">The thread is not the one that runs handlers.</exception>
    protected ProxyOf<T> GetProxy<T>(string instanceName) => new(Context.TargetOf(new InstanceId(instanceName)));

    /// <summary>Asks for a checkpoint soon.</summary>
    protected void RequestCheckpoint() => Context.RequestCheckpoint();

    /// <summary>Decodes the arguments and calls the handler. Generated code implements it.</summary>
    [EditorBrowsable(EditorBrowsableState.Never)]
    protected abstract void Dispatch(ref IncomingMessage message);

    /// <summary>Decodes the arguments of a query and answers it. Generated code overrides it where the contract has queries.</summary>
    [EditorBrowsable(EditorBrowsableState.Never)]
    protected virtual void DispatchQuery(ref IncomingMessage message) => message.Unknown();

    /// <summary>Encodes the result of a handler that was suspended. Generated code overrides it.</summary>
    [EditorBrowsable(EditorBrowsableState.Never)]
    protected virtual void WriteResult(FinishedCall call, OutgoingMessage result)
    {
    }

    /// <summary>
    /// Encodes the arguments of a message again as this build reads them (contract C1.9). False: they are what they are. Generated code
    /// overrides it.
    /// </summary>
    [EditorBrowsable(EditorBrowsableState.Never)]
    protected virtual bool WriteArguments(uint method, ReadOnlySpan<byte> arguments, OutgoingMessage to) => false;

    internal void RunFirstStart() => OnFirstStart();

    internal void RunUpgraded(uint from) => OnUpgraded(from);

    internal void RunBecomingPrimary() => BecomingPrimary();

    /// <summary>True if the class says what it does while it is primary.</summary>
    internal bool HasWorkWhilePrimary =>
        ((Func<CancellationToken, Task>)WhilePrimary).Method.DeclaringType != typeof(Immortal);

    internal Task RunWhilePrimary(CancellationToken ended) => WhilePrimary(ended);

    internal void Take(ref IncomingMessage message) => Dispatch(ref message);

    internal void TakeQuery(ref IncomingMessage message) => DispatchQuery(ref message);

    internal void Encode(FinishedCall call, OutgoingMessage result) => WriteResult(call, result);

    internal bool EncodeAgain(uint method, ReadOnlySpan<byte> arguments, OutgoingMessage to) => WriteArguments(method, arguments, to);

    /// <summary>Gives a restored immortal its session.</summary>
    internal virtual void Attach(ImmortalContext restoredBy) => _context = restoredBy;
}
