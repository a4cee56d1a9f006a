using Ambrosia.Tasks;

namespace Ambrosia;

/// <summary>Tells the body of a NondetTask about its run.</summary>
/// <param name="IdempotencyKey">
/// The same whenever this task is run, by whichever process: give it to the service that is called, and a second run
/// takes no second effect there.
/// </param>
/// <param name="Attempt">From 1, in this process.</param>
/// <param name="Stopped">Cancelled when nobody will take a result any more: the deadline has passed, or the session has ended.</param>
public sealed record NondetContext(string IdempotencyKey, int Attempt, CancellationToken Stopped)
{
    /// <summary>
    /// The services of the host, for this run of the body: those with a scope live as long as it runs, and keyed ones are found, too.
    /// </summary>
    /// <exception cref="InvalidOperationException">The process has none, since it was not made with Ambrosia.Hosting; or a handler asks,
    /// which the context was given to.</exception>
    public IServiceProvider Services => (Scope ?? throw new BindingMisuseException(Misuse.NoServices)).Services;

    internal TaskScope? Scope { get; init; }
}
