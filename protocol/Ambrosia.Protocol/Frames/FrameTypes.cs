namespace Ambrosia.Protocol;

/// <summary>The table of P2.4: which types exist and who may send them.</summary>
public static class FrameTypes
{
    public static bool IsKnown(FrameType type) => AllowedFor(type) != 0;

    /// <exception cref="ProtocolViolation">P2.4: the type is unknown, or this side does not send it.</exception>
    public static void Check(FrameType type, FrameSender sender)
    {
        if ((AllowedFor(type) & (1 << (int)sender)) == 0)
            throw new ProtocolViolation("P2.4", $"{type} frame (0x{(byte)type:X2}) from {sender}");
    }

    private static int AllowedFor(FrameType type)
    {
        const int App = 1 << (int)FrameSender.App, Coordinator = 1 << (int)FrameSender.Coordinator;
        const int Dialler = 1 << (int)FrameSender.Dialler, Acceptor = 1 << (int)FrameSender.Acceptor;
        return type switch
        {
            FrameType.AppHello or FrameType.Destination or FrameType.Processed or FrameType.PrimaryReady or FrameType.Waiting
                or FrameType.CheckpointWanted or FrameType.TimerSet or FrameType.TimerDropped or FrameType.TaskResult or FrameType.SetAside
                or FrameType.Released => App,
            FrameType.AppWelcome or FrameType.Deliver or FrameType.BecomePrimary or FrameType.ImpulseLogged or FrameType.PolicyAhead
            or FrameType.Rings => Coordinator,
            FrameType.ImageBegin or FrameType.ImageChunk or FrameType.ImageEnd => App | Coordinator,
            FrameType.Heartbeat or FrameType.Goodbye => App | Coordinator | Dialler | Acceptor,
            FrameType.Hello or FrameType.Ack => Dialler | Acceptor,
            FrameType.Ready or FrameType.ClientHello => Dialler,
            FrameType.ClientWelcome or FrameType.ClientLogged => Acceptor,
            FrameType.Run => App | Dialler | Acceptor,
            FrameType.Query => Coordinator | Dialler,
            FrameType.QueryAnswer => App | Acceptor,
            _ => 0,
        };
    }
}
