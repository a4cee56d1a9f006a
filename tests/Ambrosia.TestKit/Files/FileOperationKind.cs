namespace Ambrosia.TestKit;

/// <summary>
/// What a program asks of the simulated disk; one for each operation of the files seam that reaches the device or its names.
/// </summary>
public enum FileOperationKind
{
    Open,
    Create,
    Exists,
    List,
    CreateDirectory,
    Rename,
    RenameNew,
    Link,
    Delete,
    FlushDirectory,
    FreeBytes,
    Lock,
    Read,
    Write,
    Allocate,
    SetLength,
    Flush,
    DropCache,
}
