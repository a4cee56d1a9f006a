using Ambrosia.Protocol;
using Ambrosia.Protocol.Runs;

namespace Ambrosia.Coordinator.Views;

/// <summary>A view whose app executes nothing of the log: it converts states that it is given (protocol P5.25).</summary>
internal sealed class ConvertingView : View
{
    public override Lsn BeginsBelow => Lsn.Zero;

    public override void Emitted(InstanceId to, ulong before, in RunView run) => throw Executes();

    public override void Executed(Lsn lsn) => throw Executes();

    private static ProtocolViolation Executes() => new("P5.25", "an app that only converts has executed something");
}
