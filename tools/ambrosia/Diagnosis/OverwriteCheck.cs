using System.Runtime.InteropServices;
using Ambrosia.Log.Files;

namespace Ambrosia.Tools.Diagnosis;

/// <summary>
/// Finds out whether a block that is written over stays where it is. The log sets space aside, and zeroes it, so that no page ever meets a
/// full disk; where each write takes new space (copy on write) that does not hold.
/// </summary>
internal static unsafe partial class OverwriteCheck
{
    private const string Check = "writing over";
    private const int BlockBytes = 4_096;
    private const nuint ExtentMap = 0xC020660B; // FS_IOC_FIEMAP

    public static Finding Run(string directory)
    {
        string path = Path.Combine(directory, "overwritten");
        using var file = (PosixFile)new PosixFileSystem().Create(path);
        byte[] block = new byte[BlockBytes];
        ulong? first = null;
        foreach (byte content in new byte[] { 1, 2, 3 })
        {
            block.AsSpan().Fill(content);
            file.Write(block, 0);
            file.Flush();
            if (PlaceOf(file.Descriptor) is not { } place) return Finding.Ok(Check, "the file system does not tell where a block is");
            first ??= place;
            if (place != first) return Judge(isInPlace: false);
        }
        return Judge(isInPlace: true);
    }

    public static Finding Judge(bool isInPlace) => isInPlace ? Finding.Ok(Check, "a block that is written over stays where it is")
        : Finding.Warn(Check, "a block that is written over goes to another place (copy on write)",
            "space that was set aside does not serve a page that is written over it: a full disk ends the coordinator (74) where it would wait",
            "keep space free; or, on btrfs, give the directory the attribute 'chattr +C' before the log is made; or put the log on ext4 or xfs");

    /// <summary>Returns where the first block of a file is on the device; null where that is not told.</summary>
    private static ulong? PlaceOf(int descriptor)
    {
        var map = new Map { Length = BlockBytes, ExtentsMax = 1 };
        return Ioctl(descriptor, ExtentMap, &map) == 0 && map.Extents == 1 ? map.Place : null;
    }

    [LibraryImport("libc", EntryPoint = "ioctl")]
    private static partial int Ioctl(int descriptor, nuint request, void* argument);

    /// <summary>Has the layout of struct fiemap with one struct fiemap_extent behind it.</summary>
    [StructLayout(LayoutKind.Explicit, Size = 32 + 56)]
    private struct Map
    {
        [FieldOffset(8)] public ulong Length;
        [FieldOffset(20)] public uint Extents;
        [FieldOffset(24)] public uint ExtentsMax;
        [FieldOffset(40)] public ulong Place;
    }
}
