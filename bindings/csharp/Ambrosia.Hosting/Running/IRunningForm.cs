using Ambrosia.Hosting.Replicas;

namespace Ambrosia.Hosting.Running;

/// <summary>Runs the immortals of a host in one of its two forms. The host's start and stop call it, one at a time.</summary>
internal interface IRunningForm
{
    /// <summary>The replicas that run, from the start on. Any thread.</summary>
    IReadOnlyList<HostedReplica> Replicas { get; }

    /// <summary>Starts what runs, and comes back at once.</summary>
    void Start();

    /// <summary>Ends it in order, and comes back when it has ended. The process's other servers have ended before.</summary>
    void Stop();
}
