using System.ComponentModel;
using System.Text;
using Ambrosia.Protocol;

namespace Ambrosia.Client;

/// <summary>
/// An immortal as its contract <typeparamref name="TContract"/>, seen from outside. The generator adds a method for each of the contract's.
/// Immutable; any thread.
/// </summary>
public sealed class ClientProxy<TContract>
    where TContract : class
{
    private readonly ImmortalClient client;
    private readonly ReadOnlyMemory<byte> key;
    private readonly Lsn position;

    internal ClientProxy(ImmortalClient client, ReadOnlyMemory<byte> key, Lsn position = default)
    {
        this.position = position;
        this.client = client;
        this.key = key;
    }

    /// <summary>
    /// The same with an idempotency key, for one call: however often it is made with this key, within the key's window it takes effect once
    /// and has the same answer. Only a call with a key is repeated when a connection breaks.
    /// </summary>
    /// <param name="idempotencyKey">1 to 128 bytes as UTF-8; it belongs to the method that is called.</param>
    /// <exception cref="ArgumentException">It is empty or too long.</exception>
    public ClientProxy<TContract> WithKey(string idempotencyKey) => WithKey(Encoding.UTF8.GetBytes(idempotencyKey));

    /// <summary>The same with a key of bytes.</summary>
    public ClientProxy<TContract> WithKey(ReadOnlySpan<byte> idempotencyKey)
    {
        if (idempotencyKey.Length is 0 or > MessageReader.KeyBytesMax)
            throw new ArgumentException($"A key of {idempotencyKey.Length} bytes where 1 to {MessageReader.KeyBytesMax} are allowed.",
                nameof(idempotencyKey));
        return new ClientProxy<TContract>(client, idempotencyKey.ToArray(), position);
    }

    /// <summary>
    /// The same for queries that must see the log up to <paramref name="seen"/>, whichever replica answers: what an impulse returned, or
    /// <see cref="ImmortalClient.Seen"/> of another process. What this client has seen itself need not be given.
    /// </summary>
    public ClientProxy<TContract> AtLeast(Lsn seen) => new(client, key, seen);

    /// <summary>Used by generated code.</summary>
    [EditorBrowsable(EditorBrowsableState.Never)]
    public ClientMessage BeginQuery(uint method) => new(method);

    /// <summary>Asks a query and decodes its answer. Used by generated code.</summary>
    [EditorBrowsable(EditorBrowsableState.Never)]
    public async Task<QueryAnswer<T>> QueryAsync<T>(ClientMessage message, ValueReader<T> read, CancellationToken cancellationToken)
    {
        QueryOutcome outcome = await client.QueryAsync(message.Method, message.Arguments, position, cancellationToken)
            .ConfigureAwait(false);
        return new QueryAnswer<T>(read(outcome.Value), outcome.Position);
    }

    /// <summary>Used by generated code.</summary>
    [EditorBrowsable(EditorBrowsableState.Never)]
    public ClientMessage Begin(uint method) => new(method, key.Span);

    /// <summary>Sends a request and decodes its answer. Used by generated code.</summary>
    [EditorBrowsable(EditorBrowsableState.Never)]
    public async Task<T> SendAsync<T>(ClientMessage message, ValueReader<T> read, CancellationToken cancellationToken)
    {
        ClientRequest request = message.ToRequest(isImpulse: false);
        return read(await client.SendAsync(request, cancellationToken).ConfigureAwait(false));
    }

    /// <summary>Sends a request whose answer is that it is done. Used by generated code.</summary>
    [EditorBrowsable(EditorBrowsableState.Never)]
    public Task SendAsync(ClientMessage message, CancellationToken cancellationToken) =>
        client.SendAsync(message.ToRequest(isImpulse: false), cancellationToken);

    /// <summary>Sends an impulse; returns a position behind its record. Used by generated code.</summary>
    [EditorBrowsable(EditorBrowsableState.Never)]
    public async Task<Lsn> SendImpulseAsync(ClientMessage message, CancellationToken cancellationToken)
    {
        ClientRequest request = message.ToRequest(isImpulse: true);
        await client.SendAsync(request, cancellationToken).ConfigureAwait(false);
        return request.LoggedAt;
    }
}
