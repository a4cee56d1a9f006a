using Ambrosia.Protocol;

namespace Ambrosia;

/// <summary>A task whose first result has not been executed yet, without its type; see <see cref="PendingTask{T}"/>.</summary>
internal interface IPendingTask
{
    /// <summary>From 1, counted through the instance's life.</summary>
    ulong Number { get; }

    Source Source { get; }

    NondetOptions Options { get; }

    /// <summary>Log time of the call, µs since 1970.</summary>
    long BegunUs { get; }

    /// <summary>Runs the body once, on the runner's thread. What it throws is the task's failure.</summary>
    /// <returns>The encoded value.</returns>
    Task<byte[]> RunBody(NondetContext context);

    /// <summary>Completes the task by its record, inside the scheduler.</summary>
    void Take(NondetResultRecord record, Func<InstanceId, ProxyTarget> targetOf);
}
