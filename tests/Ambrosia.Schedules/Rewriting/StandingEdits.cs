using System.Reflection;
using System.Runtime.InteropServices;
using Mono.Cecil;

namespace Ambrosia.Schedules.Rewriting;

/// <summary>The changes that every copy has: calls of the system that wait or synchronise, and the checks of the order of locks.</summary>
public static class StandingEdits
{
    private const string AppChannel = "Ambrosia.AppChannel";

    private static readonly PlantEdit[] s_all =
    [
        // The ranks of locks are not checked here: a deadlock is to be found as one.
        new("Ambrosia.Protocol", "Ambrosia.Protocol.Locking.LockChecks::.cctor", nameof(Environment.GetEnvironmentVariable),
            typeof(StandingEdits).GetMethod(nameof(NoVariable))!, []),
        new(AppChannel, "Ambrosia.AppChannel.RingReader::TryRead", "Wake", Of(typeof(Shims.Futex), nameof(Shims.Futex.Wake)), []),
        new(AppChannel, "Ambrosia.AppChannel.RingWriter::AwaitRoom", "Wait", Of(typeof(Shims.Futex), nameof(Shims.Futex.Wait)), []),
        new(AppChannel, "Ambrosia.AppChannel.SocketStream::SendSome", "Send", SendNow(typeof(byte*)), []),
        new("CRA", "CRA.Streams.LinkSocket::TrySend", "Send", SendNow(typeof(ReadOnlySpan<byte>)), []),
    ];

    /// <summary>Takes the place of the environment where the product asks it whether to check ranks.</summary>
    public static string? NoVariable(string name) => null;

    internal static void Into(ModuleDefinition module)
    {
        foreach (PlantEdit edit in s_all)
            if (edit.Assembly == module.Assembly.Name.Name) edit.Into(module);
    }

    private static MethodInfo Of(Type shim, string name) => shim.GetMethod(name)!;

    private static MethodInfo SendNow(Type bytes) =>
        typeof(Shims.Socket).GetMethod(nameof(Shims.Socket.SendNow), [typeof(SafeHandle), bytes, typeof(nuint), typeof(int)])!;
}
