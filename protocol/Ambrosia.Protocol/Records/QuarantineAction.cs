namespace Ambrosia.Protocol;

/// <summary>What is done with a message whose handler throws.</summary>
public enum QuarantineAction : byte { SetAside = 0, Retry = 1, Drop = 2 }
