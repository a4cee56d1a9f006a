using System.Buffers.Binary;
using System.Globalization;

namespace Ambrosia.Log.Files;

/// <summary>
/// Names one mount of one running kernel. Processes that see a directory through the same mount share what the kernel remembers of it, so
/// none of them sees a name that another has renamed; through two mounts that is for a proof (log-format L7.10).
/// </summary>
/// <param name="Boot">The kernel's id, which is another after each start of the machine.</param>
/// <param name="Device">The mount's device: the major number in the upper half, the minor one in the lower.</param>
public readonly record struct MountId(Guid Boot, ulong Device)
{
    /// <summary>The bytes of an id in a file.</summary>
    public const int Bytes = 16 + sizeof(ulong);

    private const string BootPlace = "/proc/sys/kernel/random/boot_id";

    /// <summary>False: it names no mount, and so is no other's.</summary>
    public bool IsKnown => Boot != Guid.Empty;

    /// <summary>
    /// Returns the mount of a directory that other machines may have mounted as well; null: only this machine can have it, or nothing is
    /// known of it.
    /// </summary>
    public static MountId? OfShared(string directory)
    {
        if (MountTable.Read().Find(RealPath.Of(directory)) is not { IsOfOneMachine: false } mount) return null;
        return BootOfThisKernel() is { } boot ? new MountId(boot, DeviceOf(mount.Device)) : default(MountId);
    }

    /// <summary>Returns the id of the kernel that runs, another one after each start of the machine; null: it does not say.</summary>
    internal static Guid? BootOfThisKernel() =>
        Guid.TryParse(File.Exists(BootPlace) ? File.ReadAllText(BootPlace).Trim() : "", out Guid id) ? id : null;

    /// <summary>Reads an id as <see cref="Write"/> has written it.</summary>
    public static MountId Read(ReadOnlySpan<byte> bytes) =>
        new(new Guid(bytes[..16], bigEndian: true), BinaryPrimitives.ReadUInt64LittleEndian(bytes[16..]));

    /// <summary>Writes the id: the boot id as RFC 4122 has it, then the device, little-endian.</summary>
    public void Write(Span<byte> bytes)
    {
        Boot.TryWriteBytes(bytes, bigEndian: true, out _);
        BinaryPrimitives.WriteUInt64LittleEndian(bytes[16..], Device);
    }

    private static ulong DeviceOf(string text)
    {
        string[] parts = text.Split(':');
        return parts.Length == 2 && uint.TryParse(parts[0], NumberStyles.None, CultureInfo.InvariantCulture, out uint major)
            && uint.TryParse(parts[1], NumberStyles.None, CultureInfo.InvariantCulture, out uint minor)
            ? ((ulong)major << 32) | minor : 0;
    }
}
