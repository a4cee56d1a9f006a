using Ambrosia;

namespace HelloWorld;

/// <summary>
/// An immortal: ordinary C#, its state in ordinary fields, without a line about files, retries or recovery. Kill it whenever you like.
/// </summary>
public sealed partial class HelloServer : Immortal<IHelloServerProxy>, IHelloServer
{
    private long applied;
    private ulong orderHash;
    private long asked;

    public void Hello(long number)
    {
        applied++;
        orderHash = OrderHash.Add(orderHash, number);
    }

    public long Ask() => ++asked;

    // Handlers run again when the log is replayed, and what they print is printed again: so it says where things stand, not what happened.
    public void Report(string question) => Console.WriteLine(new ServerReport(question, applied, orderHash, asked));

    /// <summary>Runs in every process that takes over, and is not replayed: the place to begin listening to the world outside.</summary>
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
