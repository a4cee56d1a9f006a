using Ambrosia;

namespace CounterSample;

/// <summary>
/// Looks at the past of an immortal of this sample, in one process, for somebody with a debugger: a breakpoint in a handler is hit as it
/// would have been then. Nothing is sent, and the log is only read.
/// </summary>
static class Yesterday
{
    public static int Look<TImmortal>(string log, string position) where TImmortal : Immortal, IImmortal<TImmortal>
    {
        using ReplayedImmortal<TImmortal> then = AmbrosiaHost.Debug<TImmortal>(log, position);
        Console.WriteLine(then.Where);
        then.Next(); // a breakpoint in the handler of that message is hit, on the immortal's own thread
        foreach (string call in then.Calls) Console.WriteLine(call);
        Console.WriteLine(then.Json("$state"));
        return 0;
    }
}
