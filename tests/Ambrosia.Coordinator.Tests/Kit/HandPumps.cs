using Ambrosia.Coordinator.Replica;
using Ambrosia.Protocol.Locking;
using Ambrosia.TestKit;
using Microsoft.Extensions.Logging;

namespace Ambrosia.Coordinator.Tests;

/// <summary>Pumps that do nothing by themselves: they keep what parts ask for, and the test does it.</summary>
internal sealed class HandPumps : IPumps
{
    public List<string> Lines { get; } = [];

    /// <summary>The code that the process would have ended with; -1: it goes on.</summary>
    public int ExitCode { get; private set; } = -1;

    /// <summary>How often records were said to wait for a commit.</summary>
    public int Commits { get; private set; }

    /// <summary>Commits at once, on the thread that asks, when a test wants that.</summary>
    public Action? Committing { get; set; }

    public void Commit(bool drained)
    {
        if (drained) LockChecks.BeforeCommit();
        Commits++;
        Committing?.Invoke();
    }

    public void WaitForRoom(CancellationToken stop) => throw new InvalidOperationException("a part waits");

    public void CheckpointWork() { }

    public void RoomForApp() { }

    public void TimersChanged() { }

    public void OutputsWait() { }

    public void Dial() { }

    public void Fail(int code, string why) => ExitCode = code;

    /// <summary>The texts of events are kept as lines.</summary>
    public ILogger Logger => EventRecorder.OfTexts(Lines.Add);
}
