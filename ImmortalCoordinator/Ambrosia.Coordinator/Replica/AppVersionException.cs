namespace Ambrosia.Coordinator.Replica;

/// <summary>
/// The log is executed by another version of the app than the one that has come. Another start of the same program would end the same way,
/// so the replica stops (exit 76). Nothing was given to the app.
/// </summary>
internal sealed class AppVersionException(uint inForce, uint stated) : Exception(
    $"the log is of app version {inForce}, and this app states version {stated}: start a build of version {inForce}"
    + (stated > inForce ? $", or let this one state {inForce} in [assembly: AppVersion] until the log has been upgraded" : ""));
