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

    internal ClientProxy(ImmortalClient client, ReadOnlyMemory<byte> key)
    {
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
            throw new ArgumentException($"A key of {idempotencyKey.Length} bytes where 1 to {MessageReader.KeyBytesMax} are allowed.", nameof(idempotencyKey));
        return new ClientProxy<TContract>(client, idempotencyKey.ToArray());
    }

    [EditorBrowsable(EditorBrowsableState.Never)]
    public ClientMessage Begin(uint method) => new(method, key.Span);

    /// <summary>Sends a request and decodes its answer. Used by generated code.</summary>
    [EditorBrowsable(EditorBrowsableState.Never)]
    public async Task<T> SendAsync<T>(ClientMessage message, ValueReader<T> read, CancellationToken cancellationToken)
    {
        byte[] answer = await client.SendAsync(message.ToRequest(isImpulse: false), cancellationToken).ConfigureAwait(false);
        return read(answer);
    }

    /// <summary>Sends a request whose answer is that it is done. Used by generated code.</summary>
    [EditorBrowsable(EditorBrowsableState.Never)]
    public Task SendAsync(ClientMessage message, CancellationToken cancellationToken) => client.SendAsync(message.ToRequest(isImpulse: false), cancellationToken);

    /// <summary>Sends an impulse. Used by generated code.</summary>
    [EditorBrowsable(EditorBrowsableState.Never)]
    public Task SendImpulseAsync(ClientMessage message, CancellationToken cancellationToken) => client.SendAsync(message.ToRequest(isImpulse: true), cancellationToken);
}
