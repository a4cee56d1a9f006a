namespace Ambrosia.Schedules;

/// <summary>The kinds of synchronising steps before which another thread may be chosen.</summary>
public enum StepKind : byte
{
    Start,
    Lock,
    TryLock,
    MonitorWait,
    Pulse,
    Interlocked,
    VolatileRead,
    VolatileWrite,
    Published,
    Wait,
    Set,
    Reset,
    FutexWait,
    FutexWake,
    Spin,
    Sleep,
    Join,
    StartThread,
    Concurrent,
    Cancellation,
    Task,
    SocketReceive,
    SocketSend,
    SocketEnd,
    Scenario,
}
