using Ambrosia.Protocol;

namespace Ambrosia.Client;

/// <summary>What a query gave.</summary>
/// <param name="Position">The state that it saw is that of the log up to here, neither more nor less:
/// <see cref="ClientProxy{TContract}.AtLeast"/> takes it, in any process.</param>
public readonly record struct QueryAnswer<T>(T Value, Lsn Position)
{
    public static implicit operator T(QueryAnswer<T> answer) => answer.Value;
}
