using Ambrosia;

namespace HelloWorld;

/// <summary>The contract of the client, for the world outside and for the client itself.</summary>
public interface IHelloClient
{
    /// <summary>Makes <paramref name="calls"/> more calls. The same order counts once, however often it is given.</summary>
    [ImpulseHandler]
    void MakeCalls(string order, long calls);

    /// <summary>Prints how far the client is.</summary>
    /// <param name="question">The name of the question, which is printed with the answer.</param>
    [ImpulseHandler]
    void Report(string question);

    /// <summary>Makes the next calls.</summary>
    Call GoOn();
}
