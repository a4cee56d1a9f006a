namespace Ambrosia;

/// <summary>
/// The app channel ended while an impulse was under way: its coordinator died, was stopped, or is no longer primary. Whether the impulse
/// was logged cannot be known here: it takes effect exactly once, or never. To send it again without risk its effect must bear repetition.
/// </summary>
public sealed class ImpulseOutcomeUnknownException : Exception
{
    internal ImpulseOutcomeUnknownException(Exception why)
        : base(
            $"It is not known whether this impulse was logged: {why.Message.TrimEnd('.')}. It takes effect once, or never; ask the immortal, after it has come back, before you send it again.",
            why)
    {
    }
}
