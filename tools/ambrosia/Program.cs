using System.Runtime.InteropServices;
using Ambrosia.Tools.Output;

namespace Ambrosia.Tools;

/// <summary>The process of the tool. It gives its streams to <see cref="Tool"/> and ends with its exit code.</summary>
internal static class Program
{
    private const int BufferChars = 32 << 10;

    private static int Main(string[] args)
    {
        var output = new StreamWriter(new StandardOutputStream(), bufferSize: BufferChars) { NewLine = "\n" };
        return Tool.Run(args, new ToolStreams(output, Console.Error, !Console.IsOutputRedirected, !Console.IsErrorRedirected, Console.In));
    }
}

/// <summary>
/// Writes to descriptor 1. Console's stream does not serve: it hides that nobody reads any more, and 'ambrosia log DIR --records | head' is
/// to end with head. FileStream does not serve either: where the output is a file that others write too, it writes at its own position.
/// </summary>
internal sealed unsafe partial class StandardOutputStream : Stream
{
    private const int Descriptor = 1, Interrupted = 4;

    public override bool CanRead => false;
    public override bool CanSeek => false;
    public override bool CanWrite => true;
    public override long Length => throw new NotSupportedException();
    public override long Position { get => throw new NotSupportedException(); set => throw new NotSupportedException(); }

    public override void Write(ReadOnlySpan<byte> bytes)
    {
        fixed (byte* start = bytes)
        {
            for (int done = 0; done < bytes.Length;)
            {
                nint count = WriteTo(Descriptor, start + done, (nuint)(bytes.Length - done));
                if (count >= 0) done += (int)count;
                else if (Marshal.GetLastPInvokeError() != Interrupted)
                    throw new IOException($"output: {Marshal.GetLastPInvokeErrorMessage()}");
            }
        }
    }

    public override void Write(byte[] buffer, int offset, int count) => Write(buffer.AsSpan(offset, count));

    public override void Flush() { }

    public override int Read(byte[] buffer, int offset, int count) => throw new NotSupportedException();

    public override long Seek(long offset, SeekOrigin origin) => throw new NotSupportedException();

    public override void SetLength(long value) => throw new NotSupportedException();

    [LibraryImport("libc", EntryPoint = "write", SetLastError = true)]
    private static partial nint WriteTo(int fd, byte* buffer, nuint count);
}
