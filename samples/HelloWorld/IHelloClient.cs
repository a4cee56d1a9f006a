using Ambrosia;

namespace HelloWorld;

/// <summary>What the world outside and the client itself may ask of the client.</summary>
public interface IHelloClient
{
    /// <summary>Makes <paramref name="calls"/> more calls. The same order counts once, however often it is given.</summary>
    [ImpulseHandler]
    void MakeCalls(string order, long calls);

    /// <summary>Prints how far the client is.</summary>
    /// <param name="question">Comes back in what is printed.</param>
    [ImpulseHandler]
    void Report(string question);

    /// <summary>Makes the next calls.</summary>
    Call GoOn();
}
