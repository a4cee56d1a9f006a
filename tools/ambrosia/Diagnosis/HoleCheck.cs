using System.Globalization;
using Ambrosia.Log.Files;

namespace Ambrosia.Tools.Diagnosis;

/// <summary>
/// Verifies that the file system calls nothing a hole that was written, flushed or not. Behind the last page of a log a reader passes over
/// holes.
/// </summary>
internal static class HoleCheck
{
    private const string Check = "holes";
    private const int BlockBytes = 4_096, FileBytes = 1 << 20;
    private static readonly long[] s_written = [64 << 10, 512 << 10, FileBytes - BlockBytes];

    public static Finding Run(IFileSystem files, string directory)
    {
        using IFile file = files.Create(Path.Combine(directory, "holes"));
        file.SetLength(FileBytes);
        byte[] block = new byte[BlockBytes];
        block.AsSpan().Fill(0xA5);
        foreach (bool isFlushed in new[] { false, true })
        {
            foreach (long at in s_written) file.Write(block, at);
            if (isFlushed) file.Flush();
            foreach (long at in s_written)
                if (file.NextData(at).Start != at)
                    return Finding.Fail(Check,
                        string.Create(CultureInfo.InvariantCulture, $"the block at {at}, which was written, is called a hole ({(isFlushed ? "flushed" : "not flushed")})"),
                        "a page that was acknowledged could be passed over behind the end of the log", "use a file system that knows what was written");
        }
        return Finding.Ok(Check, file.NextData(0).Start == 0 ? "the file system calls nothing a hole, so all of a segment is read where one is searched"
            : "what was written is never called a hole");
    }
}
