namespace Ambrosia.Coordinator.Replica;

/// <summary>
/// Takes what the parts ask of whoever drives them: threads in production, virtual time in the simulator. Every call returns at once,
/// except <see cref="WaitForRoom"/>, which only pumps call through the parts.
/// </summary>
internal interface IPumps
{
    /// <summary>
    /// Hears that records wait for a commit. <paramref name="drained"/>: nothing more is coming, so it may be done here and now.
    /// </summary>
    void Commit(bool drained);

    /// <summary>Blocks until the log may have room.</summary>
    void WaitForRoom(CancellationToken stop);

    /// <summary>Hears that the checkpoint under way has work.</summary>
    void CheckpointWork();

    /// <summary>Hears that the thread that reads the app may find room now.</summary>
    void RoomForApp();

    /// <summary>Hears that another timer is due first, or that timers may fire now: <see cref="Coordinator.FireTimers"/>.</summary>
    void TimersChanged();

    /// <summary>Hears that outputs for several peers wait: <c>PeerAdmission.TellOutputs</c>.</summary>
    void OutputsWait();

    /// <summary>Hears that some peer is to be called.</summary>
    void Dial();

    /// <summary>Ends the process with this code; it returns where a simulator is in charge.</summary>
    void Fail(int code, string why);
}
