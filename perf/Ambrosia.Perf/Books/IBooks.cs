namespace Ambrosia.Perf;

/// <summary>What callers ask of the books whose app is upgraded under them.</summary>
public interface IBooks
{
    /// <summary>Counts the call.</summary>
    /// <returns>The number of the build that has answered, 1 or 2.</returns>
    [MethodId(1)]
    int Ask();

    /// <summary>Keeps nothing of the message: an input that every build answers alike.</summary>
    [MethodId(2)]
    void Note(byte[] message);

    /// <summary>Makes the state so many mebibytes larger.</summary>
    [MethodId(3)]
    void Hold(int mebibytes);

    /// <summary>Says how often <see cref="Ask"/> was executed.</summary>
    [MethodId(4)]
    long Count();
}
