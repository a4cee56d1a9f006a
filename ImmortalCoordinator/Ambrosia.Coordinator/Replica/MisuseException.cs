namespace Ambrosia.Coordinator.Replica;

/// <summary>The user asked for something that cannot be done: the message says what, why, and how to mend it. Exit code 2.</summary>
public class MisuseException : Exception
{
    /// <param name="message">All three in one text.</param>
    public MisuseException(string message) : base(message) => What = message;

    /// <param name="what">What is wrong, with the words that the user gave.</param>
    /// <param name="why">Why that cannot work; empty where <paramref name="what"/> says it.</param>
    /// <param name="mend">What to do instead; empty where the others say it.</param>
    public MisuseException(string what, string why, string mend)
        : base(string.Join("; ", new[] { what, why, mend }.Where(static part => part.Length > 0)))
    {
        What = what;
        Why = why;
        Mend = mend;
    }

    public string What { get; }
    public string Why { get; } = "";
    public string Mend { get; } = "";
}
