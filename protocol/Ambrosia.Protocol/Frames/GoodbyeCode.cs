namespace Ambrosia.Protocol;

/// <summary>Why a connection is closed (protocol P5.12).</summary>
public enum GoodbyeCode : byte { CleanStop = 0, Refused = 1, ProtocolViolation = 2, Divergence = 3, AppFailed = 4 }
