namespace Ambrosia.TestKit;

/// <summary>
/// One operation that is about to happen. <paramref name="Index"/> counts all operations of the disk from 1, so a run that is repeated
/// with the same seed meets the same operation at the same index: "crash at 1,234" is a complete description.
/// </summary>
/// <param name="Index">Number of the operation on this disk, from 1.</param>
/// <param name="Process">Who asks.</param>
/// <param name="Kind">What is asked.</param>
/// <param name="Path">The (first) path; for an open file the path by which it was opened.</param>
/// <param name="Offset">Byte position of a read or write, else 0.</param>
/// <param name="Bytes">Bytes of a read, write, allocation or new length, else 0.</param>
public readonly record struct FileOperation(long Index, string Process, FileOperationKind Kind, string Path, long Offset, long Bytes)
{
    /// <summary>True for operations that change content or names: the ones that a crash can tear.</summary>
    public bool Changes => Kind is FileOperationKind.Create or FileOperationKind.CreateDirectory or FileOperationKind.Rename
        or FileOperationKind.RenameNew or FileOperationKind.Link or FileOperationKind.Delete or FileOperationKind.FlushDirectory
        or FileOperationKind.Lock or FileOperationKind.Write or FileOperationKind.Allocate or FileOperationKind.SetLength
        or FileOperationKind.Flush;

    public override string ToString() => $"#{Index} {Process} {Kind} {Path} @{Offset}+{Bytes}";
}
