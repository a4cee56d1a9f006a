using Ambrosia;

namespace HelloWorld;

/// <summary>
/// Calls the server as fast as it goes: bursts of calls that wait for nothing, and behind each burst one that is awaited.
/// </summary>
public sealed partial class HelloClient : Immortal<IHelloClientProxy>, IHelloClient
{
    private const int BurstCalls = 500;

    private readonly IHelloServerProxy server;
    private string lastOrder = "";
    private bool isCalling;
    private long wanted;
    private long made;
    private long answers;
    private long wrongAnswers;

    /// <summary>Runs once in the life of the instance, not once a process.</summary>
    public HelloClient() => server = GetProxy<IHelloServer>("server");

    public void MakeCalls(string order, long calls)
    {
        if (order == lastOrder) return;
        lastOrder = order;
        wanted += calls;
        if (isCalling) return;
        isCalling = true;
        thisProxy.GoOnFork();
    }

    public async Call GoOn()
    {
        for (int i = 0; i < BurstCalls && made < wanted; i++) server.HelloFork(++made);

        // Kill whom you like here: the answer finds this line again, in whichever process it runs on.
        long answer = await server.AskAsync();
        answers++;
        if (answer != answers) wrongAnswers++;

        // A call to itself rather than a loop: other input gets its turn, and between two bursts nothing is suspended, which is when a
        // checkpoint can be taken.
        isCalling = made < wanted;
        if (isCalling) thisProxy.GoOnFork();
    }

    public void Report(string question) =>
        Console.WriteLine(new ClientReport(question, lastOrder, wanted, made, answers, wrongAnswers, isCalling));

    protected override void BecomingPrimary()
    {
        IHelloClientProxy self = thisProxy;
        Outside.Listen(words =>
        {
            if (words is ["report", string question]) self.ReportFork(question);
            if (words is ["call", string order, string calls]) self.MakeCallsFork(order, long.Parse(calls));
        });
    }
}
