using Ambrosia.Protocol;

namespace Ambrosia;

/// <summary>What is to be done when a suspended handler is finished: its caller's answer, or for a fork the count of a failure.</summary>
internal sealed class OwedAnswer(ImmortalRuntime runtime, Source handler, InstanceId caller, ulong call, uint method) : Source
{
    internal override void Resume() => runtime.Answer(handler, caller, call, method);
}
