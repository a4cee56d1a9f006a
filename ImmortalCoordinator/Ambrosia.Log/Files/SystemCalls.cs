namespace Ambrosia.Log;

/// <summary>
/// The calls around an open file that the kernel may do in part, or interrupt: apart from the loops around them, so that a test can answer
/// every possible count at every call. Results and errno as in C; the last errno is where the marshaller keeps it. Stateless.
/// </summary>
internal unsafe class SystemCalls
{
    public static SystemCalls Real { get; } = new();

    public virtual int Open(string path, int flags, uint mode) => Libc.Open(path, flags, mode);

    /// <summary>Of a directory.</summary>
    public virtual int FSync(int fd) => Libc.FSync(fd);

    public virtual nint PRead(int fd, byte* buffer, nuint count, long offset) => Libc.PRead(fd, buffer, count, offset);

    public virtual nint PWrite(int fd, byte* buffer, nuint count, long offset) => Libc.PWrite(fd, buffer, count, offset);

    public virtual nint PWriteV(int fd, Libc.IoVector* parts, int count, long offset) => Libc.PWriteV(fd, parts, count, offset);

    public virtual int FDataSync(int fd) => Libc.FDataSync(fd);

    public virtual int FTruncate(int fd, long length) => Libc.FTruncate(fd, length);

    public virtual int FAllocate(int fd, int mode, long offset, long length) => Libc.FAllocate(fd, mode, offset, length);

    public virtual int FLock(int fd, int operation) => Libc.FLock(fd, operation);

    public virtual int Close(int fd) => Libc.Close(fd);
}
