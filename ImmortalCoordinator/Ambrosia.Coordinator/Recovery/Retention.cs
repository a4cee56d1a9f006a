using Ambrosia.Log;

namespace Ambrosia.Coordinator;

/// <summary>
/// Runs truncations and tells the operator what is worth a line, once each; a segment that a reader holds is tried again after a while.
/// Runs come from the thread that writes checkpoints, the question when from whoever ticks.
/// </summary>
internal sealed class Retention(Truncation truncation, TimeProvider time, Action<string> say)
{
    private static readonly TimeSpan retryAfter = TimeSpan.FromSeconds(10);

    private readonly Lock gate = new();
    private readonly HashSet<string> said = [];
    private DateTimeOffset? retryAt;

    /// <summary>All of it was read back from the device. The thread that runs.</summary>
    public void WasVerified(CheckpointHeader checkpoint) => truncation.WasVerified(checkpoint);

    /// <param name="published">A checkpoint that got its name just now; null: none did.</param>
    public void Run(CheckpointHeader? published)
    {
        if (published is not null) truncation.WasVerified(published);
        DateTimeOffset now = time.GetUtcNow();
        TruncateResult result = truncation.Run(now);
        foreach (CheckpointFileName name in result.Damaged)
            SayOnce($"checkpoint {name} is damaged: it is not counted among those that stay, and older ones are kept instead");
        if (result.Held is { } held) SayOnce($"{held.Path} is held by a reader: it and what follows stay until it is released");
        lock (gate) retryAt = result.Held is null ? null : now + retryAfter;
    }

    /// <summary>True, once: what was held is to be tried again now.</summary>
    public bool IsDue(DateTimeOffset now)
    {
        lock (gate)
        {
            if (retryAt is not { } at || (now < at && now >= at - retryAfter)) return false; // a clock that was set back must not stop it
            retryAt = null;
            return true;
        }
    }

    private void SayOnce(string line)
    {
        if (said.Add(line)) say(line);
    }
}
