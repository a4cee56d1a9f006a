namespace Ambrosia;

/// <summary>What is to be done when a suspended handler is finished: its caller's answer, or what becomes of a fork that fails.</summary>
/// <param name="caller">Its origin id, not its name: whoever has that name by then may be another, whose calls have the same ids.</param>
internal sealed class OwedAnswer(Source handler, uint caller, ulong call, uint method, SetAsideMessage? kept) : Source
{
    // Fields, so that their names in an image are ours and not the compiler's.
    private readonly Source handler = handler;
    private readonly uint caller = caller;
    private readonly ulong call = call;
    private readonly uint method = method;
    private readonly SetAsideMessage? kept = kept;

    internal override void Resume() => Scheduler.Current.Runtime.Answers.Answer(handler, caller, call, method, kept);
}
