using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Runs;

namespace Ambrosia.Coordinator.Views;

/// <summary>A view whose app executes nothing of the log: it converts states that it is given (protocol P5.25).</summary>
/// <param name="converted">Hears what the app says of each.</param>
internal sealed class ConvertingView(Action<ConvertedFrame> converted) : View
{
    public override bool TryTake(ConvertedFrame answer)
    {
        converted(answer);
        return true;
    }

    public override Lsn BeginsBelow => Lsn.Zero;

    public override void Emitted(InstanceId to, ulong before, in RunView run) => throw Executes();

    public override void Executed(Lsn lsn) => throw Executes();

    private static ProtocolViolation Executes() => new("P5.25", "an app that only converts has executed something");
}
