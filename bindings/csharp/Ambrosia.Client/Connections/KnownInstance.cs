using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;

namespace Ambrosia.Client.Connections;

/// <summary>
/// Holds what a client knows of the instance that it calls: which one accepted it first, which replica answers at the moment, and why it
/// could not be reached the last time. The pump's and the connection's threads write it; any thread may read it.
/// </summary>
internal sealed class KnownInstance(InstanceId id, ClientOptions options)
{
    private readonly TaskCompletionSource _accepted = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private volatile string? _replica;
    private volatile string _trouble = "it was not looked for yet";

    /// <summary>The UUID of the first instance that accepted us; another instance of the same name is refused.</summary>
    private Guid _uuid;

    internal InstanceId Id => id;

    /// <summary>The name of the replica that answers at the moment; null while none does.</summary>
    internal string? Replica => _replica;

    /// <summary>The reason for which the instance could not be reached the last time.</summary>
    internal string Trouble
    {
        set => _trouble = value;
    }

    /// <summary>Completes when the instance has accepted us.</summary>
    /// <exception cref="TimeoutException">It has not within <see cref="ClientOptions.ConnectWithin"/>; the message says why.</exception>
    /// <exception cref="ClientRefusedException">The instance does not accept this client.</exception>
    internal async Task ConnectAsync(CancellationToken cancellationToken)
    {
        try
        {
            await _accepted.Task.WaitAsync(options.ConnectWithin, cancellationToken).ConfigureAwait(false);
        }
        catch (TimeoutException)
        {
            throw new TimeoutException($"{id} could not be reached within {options.ConnectWithin.TotalSeconds:0.#} s: {_trouble}.");
        }
    }

    /// <summary>Makes the first frame of a connection to the instance (protocol P10.2).</summary>
    internal ClientHello ToHello(bool queriesOnly) => new(1, 1, id, _uuid, options.Name, options.MessageBytesMax, queriesOnly);

    internal void Accepted(ClientWelcome welcome)
    {
        _uuid = welcome.Uuid;
        _replica = welcome.Replica;
        _accepted.TrySetResult();
    }

    /// <summary>Fails whoever waits for the first connection, since the instance does not accept this client.</summary>
    internal void Refused(ClientRefusedException why) => _accepted.TrySetException(why);

    internal void Disconnected() => _replica = null;
}
