namespace Ambrosia.Tools;

/// <summary>The process: its streams, and the exit code of <see cref="Tool"/>.</summary>
internal static class Program
{
    private const int BufferChars = 32 << 10;

    private static int Main(string[] args)
    {
        var output = new StreamWriter(new StandardOutput(), bufferSize: BufferChars) { NewLine = "\n" };
        return Tool.Run(args, new ToolStreams(output, Console.Error, !Console.IsOutputRedirected, !Console.IsErrorRedirected));
    }
}
