using System.Reflection;
using System.Runtime.CompilerServices;
using Ambrosia.Contracts;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Payloads;
using Ambrosia.Protocol.Records;

namespace Ambrosia.Session;

/// <summary>
/// Lets a copy of the new version's state take the steps that come first behind an upgrade: it is given a request, answers it, and begins
/// an image. So the code of that is compiled in the rehearsal, and not while callers wait. No handler of the app is executed, since what
/// the request asks for is nothing that it has; the handlers are only compiled. Thread: the scheduler's, between records.
/// </summary>
internal static class FirstSteps
{
    /// <summary>No contract has a method of this number.</summary>
    private const uint NoMethod = uint.MaxValue;

    /// <summary>Goes through them, and leaves the copy behind as one that nobody uses any more.</summary>
    /// <param name="copy">Nobody takes its output.</param>
    /// <param name="immortal">Its class.</param>
    internal static void Take(ImmortalRuntime copy, Type immortal, AppWelcome welcome, SessionOptions options)
    {
        var executor = new RecordExecutor(welcome, copy, options with { Log = static _ => { } });
        executor.Deliver(Request(welcome.Checkpoint));
        executor.Progress.InputDry();
        using (var image = new LargeBuffer())
        {
            image.Append([0]);
            executor.SendImage(image, default);
        }
        copy.Outbound.Flush();
        while (copy.Outbound.TryTake(out ReadOnlyMemory<byte> bytes)) copy.Outbound.Taken(bytes.Length);
        _ = StatedContracts.Of(immortal);
        Compile(immortal);
    }

    /// <summary>Makes the frame with a request of a caller outside, with a key, for a method that there is not.</summary>
    private static byte[] Request(Lsn at)
    {
        byte[] message = new byte[1 + Varint.SizeOf(NoMethod) + 2];
        message[0] = (byte)(message.Length - 1);
        Varint.Write(message.AsSpan(1), NoMethod);
        message[^2] = 1; // the length of the key
        byte[] record = RecordKinds.EncodeWhole(new ClientRequestRecord(new ClientSessionId(new Epoch(1), 1), 1, true, message));
        byte[] payload = new byte[DeliverHeader.Bytes + record.Length];
        new DeliverHeader(at, 0, Lsn.Zero).Write(payload);
        record.CopyTo(payload, DeliverHeader.Bytes);
        return payload;
    }

    /// <summary>Compiles the methods that a class declares, and the bodies of those that wait, which are types inside it.</summary>
    private static void Compile(Type type)
    {
        if (type.ContainsGenericParameters) return;
        const BindingFlags declared = BindingFlags.Instance | BindingFlags.Static | BindingFlags.Public | BindingFlags.NonPublic
            | BindingFlags.DeclaredOnly;
        foreach (MethodInfo method in type.GetMethods(declared))
        {
            if (method.IsAbstract || method.ContainsGenericParameters) continue;
            try
            {
                if (method.GetMethodBody() is not null) RuntimeHelpers.PrepareMethod(method.MethodHandle);
            }
            catch (Exception e) when (e is IOException or BadImageFormatException or TypeLoadException or MissingMemberException
                or InvalidProgramException)
            {
                // It fails where it is called, which may be never.
            }
        }
        foreach (Type inside in type.GetNestedTypes(declared)) Compile(inside);
    }
}
