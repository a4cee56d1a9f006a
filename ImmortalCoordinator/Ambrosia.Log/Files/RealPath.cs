using System.Runtime.InteropServices;

namespace Ambrosia.Log.Files;

/// <summary>Resolves symbolic links, since mount points are compared with real paths.</summary>
public static unsafe partial class RealPath
{
    /// <summary>Returns the real path, or the path itself where it cannot be resolved.</summary>
    public static string Of(string path)
    {
        byte* resolved = Resolve(path, null);
        if (resolved is null) return path;
        string text = Marshal.PtrToStringUTF8((nint)resolved) ?? path;
        NativeMemory.Free(resolved);
        return text;
    }

    [LibraryImport("libc", EntryPoint = "realpath", StringMarshalling = StringMarshalling.Utf8)]
    private static partial byte* Resolve(string path, byte* to);
}
