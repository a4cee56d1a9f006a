namespace Ambrosia;

/// <summary>What is to be done when a suspended handler of a call from outside is finished: its askers' answer.</summary>
internal sealed class OwedOutsideAnswer(Source handler, OutsideCall call, SetAsideMessage? kept) : Source
{
    // Fields, so that their names in an image are ours and not the compiler's.
    private readonly Source handler = handler;
    private readonly OutsideCall call = call;
    private readonly SetAsideMessage? kept = kept;

    internal override void Resume() => Scheduler.Current.Runtime.Outside.AnswerOwed(handler, call, kept);
}
