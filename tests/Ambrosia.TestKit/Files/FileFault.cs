namespace Ambrosia.TestKit;

/// <summary>What a failing operation reports. How much of it took effect before it failed is drawn from the disk's seed.</summary>
public enum FileFault
{
    /// <summary>EIO: nothing is known about what reached the device.</summary>
    InputOutput,

    /// <summary>ENOSPC: a write may have been cut short.</summary>
    NoSpace,
}
