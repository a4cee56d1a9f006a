namespace Ambrosia.Protocol.Frames;

/// <summary>The table of P2.4 says which types of frames exist and who may send them.</summary>
public static class FrameTypes
{
    /// <summary>Returns whether this version knows the type.</summary>
    public static bool IsKnown(FrameType type) => AllowedFor(type) != 0;

    /// <summary>Checks that this sender may send a frame of this type.</summary>
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
                or FrameType.Released or FrameType.Executing or FrameType.Contract
                or FrameType.BuildMethods or FrameType.Seen or FrameType.Converted => App,
            FrameType.AppWelcome or FrameType.Deliver or FrameType.BecomePrimary or FrameType.ImpulseLogged or FrameType.PolicyAhead
            or FrameType.Rings or FrameType.Look or FrameType.Go or FrameType.Convert => Coordinator,
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

/// <summary>Tells apart the types of frames (protocol P2.4) by their byte in the header.</summary>
public enum FrameType : byte
{
    AppHello = 0x01, AppWelcome = 0x02, Heartbeat = 0x03, Goodbye = 0x04, Hello = 0x05, Ready = 0x06,
    ClientHello = 0x07, ClientWelcome = 0x08, Contract = 0x09, BuildMethods = 0x0A,
    Run = 0x10, Destination = 0x11, Processed = 0x12, ImageBegin = 0x13, ImageChunk = 0x14, ImageEnd = 0x15,
    PrimaryReady = 0x16, Waiting = 0x17, CheckpointWanted = 0x18,
    TimerSet = 0x19, TimerDropped = 0x1A, TaskResult = 0x1B, SetAside = 0x1C, Released = 0x1D, QueryAnswer = 0x1E, Executing = 0x1F,
    Deliver = 0x20, BecomePrimary = 0x21, ImpulseLogged = 0x22, PolicyAhead = 0x23, Query = 0x24, Rings = 0x25,
    Look = 0x26, Go = 0x27, Convert = 0x28, Seen = 0x29, Converted = 0x2A,
    Ack = 0x30, ClientLogged = 0x31,
}

/// <summary>Says which end sends a frame: one of the two of an app channel, or one of the two of a link.</summary>
public enum FrameSender { App, Coordinator, Dialler, Acceptor }
