using Ambrosia;

namespace HelloWorld;

/// <summary>
/// The client calls the server as fast as it can: in bursts of calls that wait for nothing, with one awaited call behind each burst.
/// </summary>
public sealed partial class HelloClient : Immortal<IHelloClient>, IHelloClient
{
    private const int BurstCalls = 500;

    private readonly IHelloServerProxy _server;
    private string _lastOrder = "";
    private bool _isCalling;
    private long _wanted;
    private long _made;
    private long _answers;
    private long _wrongAnswers;

    /// <summary>Runs once in the life of the instance, not once a process.</summary>
    public HelloClient() => _server = GetProxy<IHelloServer>("server");

    public void MakeCalls(string order, long calls)
    {
        if (order == _lastOrder) return;
        _lastOrder = order;
        _wanted += calls;
        if (_isCalling) return;
        _isCalling = true;
        thisProxy.GoOnFork();
    }

    public async Call GoOn()
    {
        for (int i = 0; i < BurstCalls && _made < _wanted; i++) _server.HelloFork(++_made);

        // Kill whom you like here: the answer finds this line again, in whichever process it runs on.
        long answer = await _server.AskAsync();
        _answers++;
        if (answer != _answers) _wrongAnswers++;

        // A call to itself rather than a loop: other input gets its turn, and between two bursts nothing is suspended, which is when a
        // checkpoint can be taken.
        _isCalling = _made < _wanted;
        if (_isCalling) thisProxy.GoOnFork();
    }

    public void Report(string question) =>
        Console.WriteLine(new ClientReport(question, _lastOrder, _wanted, _made, _answers, _wrongAnswers, _isCalling));

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
