namespace Ambrosia.TestKit;

/// <summary>
/// The error that an injected fault, or a full simulated disk, reports. <see cref="Exception.HResult"/> is the errno, as on Linux.
/// </summary>
public sealed class SimulatedIOException : IOException
{
    public SimulatedIOException(FileFault fault, FileOperation operation)
        : base($"simulated {NameOf(fault)}: {operation}", ErrnoOf(fault))
    {
        Fault = fault;
        Operation = operation;
    }

    public FileFault Fault { get; }

    public FileOperation Operation { get; }

    private static string NameOf(FileFault fault) => fault switch
    {
        FileFault.NoSpace => "ENOSPC",
        FileFault.TooManyFiles => "EMFILE",
        FileFault.OutOfMemory => "ENOMEM",
        FileFault.BadDescriptor => "EBADF",
        _ => "EIO",
    };

    private static int ErrnoOf(FileFault fault) => fault switch
    {
        FileFault.NoSpace => 28,
        FileFault.TooManyFiles => 24,
        FileFault.OutOfMemory => 12,
        FileFault.BadDescriptor => 9,
        _ => 5,
    };
}
