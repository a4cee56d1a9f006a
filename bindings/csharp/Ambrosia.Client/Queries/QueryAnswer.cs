using Ambrosia.Protocol;

namespace Ambrosia.Client;

/// <summary>The answer to a query holds its value and the position of the state that the query saw.</summary>
/// <param name="Position">Position up to which the query saw the log, neither more nor less. <see cref="ClientProxy{TContract}.AtLeast"/>
/// takes it, in any process.</param>
public readonly record struct QueryAnswer<T>(T Value, Lsn Position)
{
    public static implicit operator T(QueryAnswer<T> answer) => answer.Value;
}

/// <summary>The replicas that answer a client's queries.</summary>
public enum QuerySource
{
    /// <summary>The primary answers, or any other replica while no primary does.</summary>
    Any,

    /// <summary>Only the primary answers, and a query waits for it.</summary>
    Primary,

    /// <summary>Secondaries answer, so that the primary has less to do; the primary answers while no secondary does.</summary>
    Secondaries,
}
