namespace Ambrosia.TestKit;

/// <summary>What a failing operation reports. How much of it took effect before it failed is drawn from the disk's seed.</summary>
public enum FileFault
{
    /// <summary>EIO: nothing is known about what reached the device.</summary>
    InputOutput,

    /// <summary>ENOSPC: a write may have been cut short.</summary>
    NoSpace,

    /// <summary>EMFILE: the process has as many files open as it may.</summary>
    TooManyFiles,

    /// <summary>ENOMEM: the system has no memory for it now.</summary>
    OutOfMemory,

    /// <summary>EBADF: the opening may not do this, such as an exclusive lock of one that may not write, over NFS.</summary>
    BadDescriptor,
}
