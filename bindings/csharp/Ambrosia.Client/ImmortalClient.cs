using Ambrosia.Client.Pumps;
using Ambrosia.Protocol;

namespace Ambrosia.Client;

/// <summary>
/// A caller outside: speaks to one immortal from any .NET process. It finds the instance by the catalog, follows it when another replica
/// takes over, and connects again by itself. Any thread; calls made at the same time share the connection.
/// </summary>
public sealed class ImmortalClient : IAsyncDisposable
{
    private readonly RequestBook book;
    private readonly ClientPump pump, secondary;
    private readonly QueryDesk desk;
    private readonly QueryLoop queries;
    private readonly Allowance allowance;
    private ulong seen;

    private ImmortalClient(InstanceId instance, ClientOptions options, string catalog)
    {
        Instance = instance.Name;
        allowance = new Allowance(options.RequestsMax, options.RequestBytesMax);
        book = new RequestBook(request => allowance.Leave(request.Message.Length));
        desk = new QueryDesk(options.QueriesFrom, Saw);
        queries = new QueryLoop(desk, options.QueryWithin, TimeProvider.System);
        pump = new ClientPump(catalog, instance, options, book, desk, Saw);
        secondary = new ClientPump(catalog, instance, options, null, desk, Saw);
        desk.WantSecondary = secondary.Want;
    }

    /// <summary>Name of the instance that it speaks to.</summary>
    public string Instance { get; }

    /// <summary>The replica that answers at the moment; null: it is being looked for.</summary>
    public string? Replica => pump.Replica;

    /// <summary>
    /// How far this client has seen the log: behind everything that it was told is logged, and that answers rest on. Its queries see at
    /// least this state. Give it to another process (<see cref="ClientProxy{TContract}.AtLeast"/>), which then sees it too.
    /// </summary>
    public Lsn Seen => new(Volatile.Read(ref seen));

    /// <summary>Connects to the instance.</summary>
    /// <param name="catalog">Directory of the catalog.</param>
    /// <param name="instance">Name of the instance.</param>
    /// <exception cref="ArgumentException">It is no instance name, or an option is out of its range.</exception>
    /// <exception cref="TimeoutException">It was not found, or not reached, within <see cref="ClientOptions.ConnectWithin"/>; the
    /// message says why.</exception>
    /// <exception cref="ClientRefusedException">It does not take this caller.</exception>
    public static async Task<ImmortalClient> ConnectAsync(
        string catalog, string instance, ClientOptions? options = null, CancellationToken cancellationToken = default)
    {
        ArgumentException.ThrowIfNullOrEmpty(catalog);
        if (!Names.IsValid(instance))
            throw new ArgumentException($"'{instance}' is not an instance name: 1 to {Names.CharsMax} letters, digits, '_' and '-'.",
                nameof(instance));
        options ??= new ClientOptions();
        options.Check();
        var client = new ImmortalClient(new InstanceId(instance), options, Path.GetFullPath(catalog));
        try
        {
            await client.pump.ConnectAsync(cancellationToken).ConfigureAwait(false);
            return client;
        }
        catch
        {
            await client.DisposeAsync().ConfigureAwait(false);
            throw;
        }
    }

    /// <summary>
    /// The instance as its contract <typeparamref name="TContract"/>: for each method Foo of it there is FooAsync, which returns the
    /// answer, and for impulse handlers FooForkAsync, which completes when the impulse is logged. Generated where this call stands.
    /// </summary>
    public ClientProxy<TContract> GetProxy<TContract>()
        where TContract : class => new(this, default);

    /// <summary>
    /// Asks whoever can answer, out of a state that holds what this client has seen and everything below <paramref name="position"/>.
    /// </summary>
    /// <exception cref="TimeoutException">Nobody could within <see cref="ClientOptions.QueryWithin"/>.</exception>
    internal async Task<QueryOutcome> QueryAsync(uint method, byte[] arguments, Lsn position, CancellationToken cancellationToken)
    {
        Lsn atLeast = Lsn.Max(Seen, position);
        await allowance.EnterAsync(arguments.Length, cancellationToken).ConfigureAwait(false);
        try
        {
            return await queries.AskAsync(method, arguments, atLeast, cancellationToken).ConfigureAwait(false);
        }
        finally
        {
            allowance.Leave(arguments.Length);
        }
    }

    private void Saw(Lsn position)
    {
        ulong known = Volatile.Read(ref seen);
        while (known < position.Value && Interlocked.CompareExchange(ref seen, position.Value, known) is var found && found != known)
            known = found;
    }

    /// <summary>Waits until so much is under way at most, sends, and waits for the answer, or for an impulse until it is logged.</summary>
    internal async Task<byte[]> SendAsync(ClientRequest request, CancellationToken cancellationToken)
    {
        await allowance.EnterAsync(request.Message.Length, cancellationToken).ConfigureAwait(false);
        if (!book.TryAdd(request)) allowance.Leave(request.Message.Length);
        pump.Nudge();
        using CancellationTokenRegistration registration = cancellationToken.UnsafeRegister(static (state, token) =>
        {
            (RequestBook book, ClientRequest request) = ((RequestBook, ClientRequest))state!;
            book.Abandon(request, token);
        }, (book, request));
        return await request.Completion.Task.ConfigureAwait(false);
    }

    /// <summary>Ends the connection. What is under way fails with <see cref="OutcomeUnknownException"/>.</summary>
    public ValueTask DisposeAsync()
    {
        var why = new ObjectDisposedException(nameof(ImmortalClient));
        pump.Dispose();
        secondary.Dispose();
        book.End(why);
        desk.End(why);
        return ValueTask.CompletedTask;
    }
}
