namespace Ambrosia.Log;

/// <summary>A held lock; the kernel frees it when the process dies. Never inherited by children.</summary>
public interface IFileLock : IDisposable
{
    IFile File { get; }

    /// <summary>True while the locked file is still the one that has the name (inodes compared).</summary>
    bool IsStillNamed { get; }
}
