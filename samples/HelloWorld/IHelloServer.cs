using Ambrosia;

namespace HelloWorld;

/// <summary>What others may ask of the server. The generator makes <c>IHelloServerProxy</c> of it, through which they ask.</summary>
public interface IHelloServer
{
    /// <summary>Says hello and waits for nothing.</summary>
    /// <param name="number">1, 2, 3, … in the order in which the caller made the calls.</param>
    [MethodId(1)]
    void Hello(long number);

    /// <summary>Which question is this? The first gets 1, the next 2, and so on.</summary>
    [MethodId(2)]
    long Ask();

    /// <summary>Prints how far the server is.</summary>
    /// <param name="question">Comes back in what is printed.</param>
    [ImpulseHandler]
    void Report(string question);
}
