using System.ComponentModel;
using Ambrosia.Client.Queries;
using Ambrosia.Client.Requests;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Payloads;
using Ambrosia.Protocol.Runs;

namespace Ambrosia.Client;

/// <summary>
/// Calls an immortal from outside through its contract <typeparamref name="TContract"/>. The generator adds a method for each method of the
/// contract. The proxy is immutable, so any thread may use it.
/// </summary>
public sealed class ClientProxy<TContract>
    where TContract : class
{
    private readonly ImmortalClient _client;
    private readonly ReadOnlyMemory<byte> _key;
    private readonly Lsn _position;

    /// <summary>Makes the exceptions of the contract; null: it has none.</summary>
    private readonly ContractFailures? _failures;

    internal ClientProxy(ImmortalClient client, ReadOnlyMemory<byte> key, Lsn position = default, ContractFailures? failures = null)
    {
        _failures = failures;
        _position = position;
        _client = client;
        _key = key;
    }

    /// <summary>
    /// Returns a proxy with an idempotency key for one call. However often the call is made with this key, within the key's window it takes
    /// effect once and has the same answer. Only a call with a key is repeated when a connection breaks.
    /// </summary>
    /// <param name="idempotencyKey">Key of 1 to 128 bytes as UTF-8; it belongs to the method that is called.</param>
    /// <exception cref="ArgumentException">The key is empty or too long, or holds half of a surrogate pair.</exception>
    public ClientProxy<TContract> WithKey(string idempotencyKey) => WithKey(Utf8Text.Identity(idempotencyKey));

    /// <summary>Returns a proxy with an idempotency key of bytes for one call.</summary>
    public ClientProxy<TContract> WithKey(ReadOnlySpan<byte> idempotencyKey)
    {
        if (idempotencyKey.Length is 0 or > MessageReader.KeyBytesMax)
            throw new ArgumentException($"A key of {idempotencyKey.Length} bytes where 1 to {MessageReader.KeyBytesMax} are allowed.",
                nameof(idempotencyKey));
        return new ClientProxy<TContract>(_client, idempotencyKey.ToArray(), _position, _failures);
    }

    /// <summary>
    /// Returns a proxy whose queries see the log at least up to <paramref name="seen"/>, whichever replica answers. This is a position that
    /// an impulse returned, or <see cref="ImmortalClient.Seen"/> of another process. What this client has seen itself need not be given.
    /// </summary>
    public ClientProxy<TContract> AtLeast(Lsn seen) => new(_client, _key, seen, _failures);

    /// <summary>Returns a proxy that throws the exceptions of the contract as themselves. Generated code uses it.</summary>
    [EditorBrowsable(EditorBrowsableState.Never)]
    public ClientProxy<TContract> With(ContractFailures failures) => new(_client, _key, _position, failures);

    /// <summary>Begins a query. Generated code uses it.</summary>
    /// <param name="name">The method with its contract, for people.</param>
    [EditorBrowsable(EditorBrowsableState.Never)]
    public ClientMessage BeginQuery(uint method, string name) => new(method, name);

    /// <summary>Asks a query and decodes its answer. Generated code uses it.</summary>
    [EditorBrowsable(EditorBrowsableState.Never)]
    public async Task<QueryAnswer<T>> QueryAsync<T>(ClientMessage message, ValueReader<T> read, CancellationToken cancellationToken)
    {
        QueryOutcome outcome = await Awaited(_client.QueryAsync(message, _position, cancellationToken))
            .ConfigureAwait(false);
        return new QueryAnswer<T>(read(outcome.Value), outcome.Position);
    }

    /// <summary>Begins a request or an impulse. Generated code uses it.</summary>
    /// <param name="name">The method with its contract, for people.</param>
    [EditorBrowsable(EditorBrowsableState.Never)]
    public ClientMessage Begin(uint method, string name) => new(method, _key.Span, name);

    /// <summary>Sends a request and decodes its answer. Generated code uses it.</summary>
    [EditorBrowsable(EditorBrowsableState.Never)]
    public async Task<T> SendAsync<T>(ClientMessage message, ValueReader<T> read, CancellationToken cancellationToken)
    {
        ClientRequest request = message.ToRequest(isImpulse: false);
        return read(await Awaited(_client.SendAsync(request, cancellationToken)).ConfigureAwait(false));
    }

    /// <summary>Sends a request that has no result and waits until it is done. Generated code uses it.</summary>
    [EditorBrowsable(EditorBrowsableState.Never)]
    public Task SendAsync(ClientMessage message, CancellationToken cancellationToken) =>
        Awaited(_client.SendAsync(message.ToRequest(isImpulse: false), cancellationToken));

    /// <summary>Sends an impulse, waits until it is logged, and returns a position behind its record. Generated code uses it.</summary>
    [EditorBrowsable(EditorBrowsableState.Never)]
    public async Task<Lsn> SendLogged(ClientMessage message, CancellationToken cancellationToken)
    {
        ClientRequest request = message.ToRequest(isImpulse: true);
        await _client.SendAsync(request, cancellationToken).ConfigureAwait(false);
        return request.LoggedAt;
    }

    private Task<T> Awaited<T>(Task<T> answer) => _failures is null ? answer : Translated(answer, _failures);

    private static async Task<T> Translated<T>(Task<T> answer, ContractFailures failures)
    {
        try
        {
            return await answer.ConfigureAwait(false);
        }
        catch (RequestFailedException e) when (failures(e.TypeName, e.Message, e.InnerException) is { } failure)
        {
            throw failure;
        }
    }
}

/// <summary>Makes the exception of a contract that a failure is; null: it is none of the contract's. Generated code uses it.</summary>
[EditorBrowsable(EditorBrowsableState.Never)]
public delegate Exception? ContractFailures(string typeName, string message, Exception? inner);

/// <summary>Decodes an answer. Generated code uses it.</summary>
[EditorBrowsable(EditorBrowsableState.Never)]
public delegate T ValueReader<out T>(ReadOnlySpan<byte> value);
