namespace Ambrosia.Protocol;

/// <summary>Frame types of protocol P2.4.</summary>
public enum FrameType : byte
{
    AppHello = 0x01, AppWelcome = 0x02, Heartbeat = 0x03, Goodbye = 0x04, Hello = 0x05, Ready = 0x06,
    ClientHello = 0x07, ClientWelcome = 0x08,
    Run = 0x10, Destination = 0x11, Processed = 0x12, ImageBegin = 0x13, ImageChunk = 0x14, ImageEnd = 0x15,
    PrimaryReady = 0x16, Waiting = 0x17, CheckpointWanted = 0x18,
    TimerSet = 0x19, TimerDropped = 0x1A, TaskResult = 0x1B, SetAside = 0x1C, Released = 0x1D, QueryAnswer = 0x1E,
    Deliver = 0x20, BecomePrimary = 0x21, ImpulseLogged = 0x22, PolicyAhead = 0x23, Query = 0x24, Rings = 0x25,
    Ack = 0x30, ClientLogged = 0x31,
}
