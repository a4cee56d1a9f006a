using System.Runtime.InteropServices;
using Ambrosia.Log;

namespace Ambrosia.Tools;

/// <summary>Whether writes may pass the page cache (O_DIRECT). Both ways are safe; direct ones are faster for large pages.</summary>
internal static unsafe class DirectWriteCheck
{
    private const string Check = "direct writes";
    private const int BlockBytes = 4_096;
    private const uint OwnerOnly = 0x180;

    private static int Direct => RuntimeInformation.ProcessArchitecture is Architecture.Arm64 or Architecture.Arm ? 0x1_0000 : 0x4000;

    public static Finding Run(string directory)
    {
        string path = Path.Combine(directory, "direct");
        int fd = Libc.Open(path, Libc.ReadWrite | Libc.CreateFlag | Libc.CloseOnExec | Direct, OwnerOnly);
        if (fd < 0) return NotTaken(PosixError.Of("open", path).Message);
        void* block = NativeMemory.AlignedAlloc(BlockBytes, BlockBytes);
        try
        {
            NativeMemory.Clear(block, BlockBytes);
            return Libc.PWrite(fd, (byte*)block, BlockBytes, 0) == BlockBytes ? Finding.Ok(Check, "the file system takes them (O_DIRECT)")
                : NotTaken(PosixError.Of("write of", path).Message);
        }
        finally
        {
            NativeMemory.AlignedFree(block);
            _ = Libc.Close(fd);
        }
    }

    private static Finding NotTaken(string why) => Finding.Ok(Check, $"not taken ({why}); buffered writes and flushes are used");
}
