using System.Runtime.InteropServices;

namespace Ambrosia.Coordinator.Hosting;

/// <summary>
/// Tells who else may read or write what must be ours alone. It looks at the operating system itself, once, before anything is made:
/// rights are not part of what a simulator rules. Everything a coordinator makes is made private (IFileSystem), whatever the umask.
/// </summary>
internal static unsafe partial class FileRights
{
    private const UnixFileMode
        OthersRead = UnixFileMode.GroupRead | UnixFileMode.OtherRead,
        OthersWrite = UnixFileMode.GroupWrite | UnixFileMode.OtherWrite,
        OthersEnter = UnixFileMode.GroupExecute | UnixFileMode.OtherExecute;

    /// <summary>Says what is wrong with a file that only its owner may see; null: nothing, or it is not there.</summary>
    public static string? WhatIsWrongWithSecret(string path) =>
        Of(path) is { } found ? NotOurs(found) ?? OpenTo(found.Mode, OthersRead | OthersWrite | OthersEnter) : null;

    /// <summary>
    /// Says what is wrong with a private key: its group may be let in by whoever provides it, others not. Null: nothing, or it is not
    /// there.
    /// </summary>
    public static string? WhatIsWrongWithKey(string path) =>
        Of(path) is { } found
        ? NotOurs(found) ?? OpenTo(found.Mode, UnixFileMode.OtherRead | UnixFileMode.OtherExecute | OthersWrite) : null;

    /// <summary>
    /// Says what is wrong with a directory in which nobody else may put, replace or see anything; null: nothing, or it is not there.
    /// </summary>
    public static string? WhatIsWrongWithPrivateDirectory(string path) => WhatIsWrongWithSecret(path);

    /// <summary>
    /// Says what is wrong with a directory in which others may look but change nothing; null: nothing, or it is not there.
    /// </summary>
    public static string? WhatIsWrongWithOwnDirectory(string path) =>
        Of(path) is { } found ? NotOurs(found) ?? OpenTo(found.Mode, OthersWrite) : null;

    /// <summary>Returns true when others may see what is in this directory.</summary>
    public static bool IsSeenByOthers(string path) =>
        Of(path) is { } found && (found.Mode & (UnixFileMode.OtherRead | UnixFileMode.OtherExecute)) != 0;

    public static uint EffectiveUser { get; } = OperatingSystem.IsLinux() ? GetEffectiveUser() : 0;

    private static string? NotOurs((uint Owner, UnixFileMode Mode) found) =>
        found.Owner == EffectiveUser || found.Owner == 0 ? null
        : $"it belongs to user {found.Owner}, not to the one that runs this coordinator ({EffectiveUser})";

    private static string? OpenTo(UnixFileMode mode, UnixFileMode closed) =>
        (mode & closed) == 0 ? null
        : $"its mode is {Octal(mode)}: others than its owner may {((mode & closed & OthersWrite) != 0 ? "change" : "read")} it";

    private static string Octal(UnixFileMode mode) => "0" + Convert.ToString((int)mode & 0x1FF, 8).PadLeft(3, '0');

    private static (uint Owner, UnixFileMode Mode)? Of(string path)
    {
        const int currentDirectory = -100, modeAndOwner = 0x2 | 0x8, ownerAt = 20, modeAt = 28;
        if (!OperatingSystem.IsLinux()) return null;
        byte* status = stackalloc byte[256]; // the kernel's struct statx: the same on every processor
        if (StatX(currentDirectory, path, 0, modeAndOwner, status) != 0) return null;
        return (*(uint*)(status + ownerAt), (UnixFileMode)(*(ushort*)(status + modeAt) & 0xFFF));
    }

    [LibraryImport("libc", EntryPoint = "statx", SetLastError = true, StringMarshalling = StringMarshalling.Utf8)]
    private static partial int StatX(int directory, string path, int flags, uint mask, byte* status);

    [LibraryImport("libc", EntryPoint = "geteuid")]
    private static partial uint GetEffectiveUser();
}
