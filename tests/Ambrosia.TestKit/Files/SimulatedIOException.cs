namespace Ambrosia.TestKit;

/// <summary>
/// The error that an injected fault, or a full simulated disk, reports. <see cref="Exception.HResult"/> is the errno, as on Linux.
/// </summary>
public sealed class SimulatedIOException : IOException
{
    private const int Eio = 5;
    private const int Enospc = 28;

    public SimulatedIOException(FileFault fault, FileOperation operation)
        : base($"simulated {(fault == FileFault.NoSpace ? "ENOSPC" : "EIO")}: {operation}", fault == FileFault.NoSpace ? Enospc : Eio)
    {
        Fault = fault;
        Operation = operation;
    }

    public FileFault Fault { get; }

    public FileOperation Operation { get; }
}
