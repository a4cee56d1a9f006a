using Ambrosia;

namespace HelloWorld;

/// <summary>
/// The server is an immortal: ordinary C# with its state in ordinary fields, and without a line about files, retries or recovery. Kill it
/// whenever you like.
/// </summary>
public sealed partial class HelloServer : Immortal<IHelloServer>, IHelloServer
{
    private long _applied;
    private ulong _orderHash;
    private long _asked;

    public void Hello(long number)
    {
        _applied++;
        _orderHash = OrderHash.Add(_orderHash, number);
    }

    public long Ask() => ++_asked;

    // Handlers run again when the log is replayed, and print again. So this line tells the state, and not what has just happened.
    public void Report(string question) => Console.WriteLine(new ServerReport(question, _applied, _orderHash, _asked));

    /// <summary>
    /// Runs in every process that takes over, and is not replayed. So this is the place to begin listening to the world outside.
    /// </summary>
    protected override void BecomingPrimary()
    {
        IHelloServerProxy self = thisProxy;
        Outside.Listen(words =>
        {
            // From a thread outside the handlers: an impulse, which is logged before the handler sees it.
            if (words is ["report", string question]) self.ReportFork(question);
        });
    }
}
