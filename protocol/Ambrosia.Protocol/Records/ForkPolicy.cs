namespace Ambrosia.Protocol;

/// <summary>What happens when a fork's handler throws.</summary>
public enum ForkPolicy : byte { Continue = 0, Stop = 1, Quarantine = 2 }
