namespace Ambrosia.Coordinator;

/// <summary>
/// What the parts may ask of whoever drives them: threads in production, virtual time in the simulator. Every call returns at once,
/// except <see cref="WaitForRoom"/>, which only pumps call through the parts.
/// </summary>
internal interface IPumps
{
    /// <summary>Records wait for a commit. <paramref name="drained"/>: nothing more is coming, so it may be done here and now.</summary>
    void Commit(bool drained);

    /// <summary>Blocks until the log may have room.</summary>
    void WaitForRoom(CancellationToken stop);

    /// <summary>The checkpoint under way has work.</summary>
    void CheckpointWork();

    /// <summary>The thread that reads the app may find room now.</summary>
    void RoomForApp();

    /// <summary>Another timer is due first, or timers may fire now: <see cref="Coordinator.FireTimers"/>.</summary>
    void TimersChanged();

    /// <summary>Outputs for several peers wait: <see cref="Coordinator.TellOutputs"/>.</summary>
    void OutputsWait();

    /// <summary>Some peer is to be called.</summary>
    void Dial();

    /// <summary>The process ends with this code; returns where a simulator is in charge.</summary>
    void Fail(int code, string why);

    /// <summary>One line for the operator.</summary>
    void Say(string line);
}
