using System.Net.Sockets;
using Ambrosia.Coordinator.Hosting;
using Ambrosia.Coordinator.Replica;
using Ambrosia.Log.Files;
using Ambrosia.Log.Format;
using Ambrosia.Log.Fencing;
using Ambrosia.Protocol;

namespace Ambrosia.Coordinator.Tests.Hosting;

/// <summary>Whatever leaves a thread of a coordinator ends the process by the code that says what it was, and a line.</summary>
public sealed class PumpThreadTests
{
    private const int TooManyFiles = 24, BrokenDisk = 5;

    public static TheoryData<int, string> Ends => new()
    {
        { ExitCodes.Damage, nameof(LogDamage) }, { ExitCodes.Damage, nameof(ProtocolViolation) },
        { ExitCodes.Divergence, nameof(DivergenceException) }, { ExitCodes.NotPrimary, nameof(FenceLostException) },
        { ExitCodes.System, "no descriptors" }, { ExitCodes.Io, "no disk" }, { ExitCodes.System, nameof(OutOfMemoryException) },
        { ExitCodes.System, nameof(SocketException) }, { ExitCodes.System, nameof(NullReferenceException) },
    };

    [Theory]
    [MemberData(nameof(Ends))]
    public void Thread_ThatMeetsThis_EndsTheProcessByTheCode(int code, string what)
    {
        (int Code, string Why)? end = null;
        Thread? started = PumpThread.TryStart("checkpoint", () => throw Made(what), (c, why) => end = (c, why));
        Assert.NotNull(started);
        started.Join();
        Assert.Equal(code, end?.Code);
        Assert.NotEqual("", end?.Why);
    }

    private static Exception Made(string what) => what switch
    {
        nameof(LogDamage) => new LogDamage("ckpt.7.1.r0", 0, new Lsn(7), "1", "2"),
        nameof(ProtocolViolation) => new ProtocolViolation("P2.1", "planted"),
        nameof(DivergenceException) => new DivergenceException("planted"),
        nameof(FenceLostException) => new FenceLostException("planted", new Epoch(1)),
        "no descriptors" => new IOException("open", TooManyFiles),
        "no disk" => new IOException("write", BrokenDisk),
        nameof(OutOfMemoryException) => new OutOfMemoryException(),
        nameof(SocketException) => new SocketException((int)SocketError.TooManyOpenSockets),
        _ => new NullReferenceException(),
    };
}
