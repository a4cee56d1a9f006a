using Ambrosia;

namespace HelloWorld;

/// <summary>The contract of the server. The generator makes <c>IHelloServerProxy</c> of it, through which others call the server.</summary>
public interface IHelloServer
{
    /// <summary>Says hello and waits for nothing.</summary>
    /// <param name="number">1, 2, 3, … in the order in which the caller made the calls.</param>
    [MethodId(1)]
    void Hello(long number);

    /// <summary>Answers which question this is. The first gets 1, the next 2, and so on.</summary>
    [MethodId(2)]
    long Ask();

    /// <summary>Prints how far the server is.</summary>
    /// <param name="question">The name of the question, which is printed with the answer.</param>
    [ImpulseHandler]
    void Report(string question);
}
