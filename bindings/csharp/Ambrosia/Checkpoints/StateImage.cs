using System.Reflection;
using Ambrosia.Outbound;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Payloads;
using Ambrosia.State;
using Ambrosia.Suspension;

namespace Ambrosia.Checkpoints;

/// <summary>
/// Writes and reads images: everything that a session needs to go on after the records that an image contains (docs/image.md). An image is
/// one CBOR array: [format, version, bodies that suspended methods need, types, objects]. Object 0 is the <see cref="ImageRoot"/>. State
/// and suspended methods are one graph, so that a local that is also an object of the state still is after a restore. Thread: the
/// scheduler's, between records.
/// </summary>
internal static class StateImage
{
    internal const uint Version = 8;

    /// <summary>The text with which every image of this binding begins.</summary>
    internal const string FormatName = "ambrosia-csharp";

    /// <summary>
    /// The bytes of an image that wait in memory to be sent while handlers go on. Of a larger one the rest is written while it is sent, so
    /// that the memory does not hold the state twice.
    /// </summary>
    private const long KeptBytesMax = 32 << 20;

    /// <summary>Writes an image. It changes nothing: handlers go on undisturbed, and a second image has the same bytes.</summary>
    /// <exception cref="NotWritableException">Something reachable from the state or from a suspended method cannot be written.</exception>
    internal static WrittenImage Write(
        ImageRoot root, bool isReflective = false, long keptBytesMax = KeptBytesMax, bool tellsPlaces = false,
        bool looksAllKeysUp = false) =>
        WriteNamingPlaces(tellsPlaces, places =>
            Write(root, new GraphWriter(isReflective, keptBytesMax: keptBytesMax, tellsPlaces: places) { LooksAllKeysUp = looksAllKeysUp }));

    /// <summary>
    /// Writes the image for <paramref name="successor"/>, which was made of the immortal of <paramref name="root"/> and takes its place:
    /// another class, with the same suspended methods.
    /// </summary>
    /// <exception cref="NotWritableException">Something refers to the immortal that is replaced, or cannot be written.</exception>
    internal static WrittenImage WriteFor(Immortal successor, ImageRoot root, bool tellsPlaces = false)
    {
        var migration = new StateMigration(root.Immortal!, successor);
        root.Immortal = successor;
        return WriteNamingPlaces(
            tellsPlaces, places => Write(root, new GraphWriter(moving: migration, keptBytesMax: KeptBytesMax, tellsPlaces: places)));
    }

    /// <summary>
    /// Writes once more where a collection has lost a key, to name the field that holds the collection: while it is written, it is only
    /// known as an object.
    /// </summary>
    private static WrittenImage WriteNamingPlaces(bool tellsPlaces, Func<bool, WrittenImage> write)
    {
        try
        {
            return write(tellsPlaces);
        }
        catch (NotWritableException e) when (e.IsOfLostKey && !tellsPlaces)
        {
            return write(true);
        }
    }

    private static WrittenImage Write(ImageRoot root, GraphWriter graph)
    {
        graph.IdOf(root);
        graph.WriteAll();
        foreach (IPendingCall call in root.Outstanding)
            if (call.Source.Waiter is ISuspended waiter)
                graph.Waiting(waiter.MachineType, StateOf(waiter), $"{call.Proxy} method 0x{call.Method:X}, call {call.Id}");
        foreach (WaitingTimer timer in root.Timers)
            if (timer.Waiter is ISuspended waiter) graph.Waiting(waiter.MachineType, StateOf(waiter), $"timer {timer.Number}");
        foreach (IPendingTask task in root.Tasks)
            if (task.Source.Waiter is ISuspended waiter) graph.Waiting(waiter.MachineType, StateOf(waiter), $"task {task.Number}");

        var front = new PieceBuffer();
        var to = new CborWriter(front);
        to.WriteArrayHeader(5);
        to.WriteString(FormatName);
        to.WriteUInt64(Version);
        graph.Bodies.CopyTo(ref to);
        graph.WriteFront(ref to);
        to.Flush();
        return new WrittenImage(front, graph);
    }

    /// <summary>Returns how many bytes of an image stand before its objects; null: the first stretch of it does not say.</summary>
    internal static long? FrontBytes(LargeBuffer image)
    {
        try
        {
            var from = new CborReader(image.From(0));
            from.ReadArrayHeader();
            for (int i = 0; i < 4; i++) from.Skip(); // format, version, bodies, types
            from.ReadArrayHeader();
            return from.Position;
        }
        catch (CborException)
        {
            return null;
        }
    }

    /// <summary>Reads an image, and returns a line for each method that goes on in a body which is kept for it.</summary>
    /// <exception cref="InvalidDataException">The image is not for this app.</exception>
    /// <exception cref="OtherImageFormatException">Another binding, or another version of this one, has written the image.</exception>
    /// <exception cref="SuspendedCallsChangedException">Methods that are suspended in it have other bodies now; nothing
    /// was restored.</exception>
    internal static IReadOnlyList<string> Restore(
        LargeBuffer image, bool acceptSource, AttachProxy attach, Action<ImageRoot> adopt, RenamedClass? renamed = null,
        bool isReflective = false)
    {
        try
        {
            CborReader from = Check(image.From(0), acceptSource, out BodyFindings bodies);
            if (bodies.Refusals.Count > 0) throw new SuspendedCallsChangedException(bodies.Refusals);
            var graph = new GraphReader(attach, isReflective);
            graph.ReadAll(image, from.Position, bodies.Bodies, renamed);
            adopt(graph.ObjectOf(0) as ImageRoot ?? throw new InvalidDataException("The image does not begin with its root."));
            return bodies.Kept;
        }
        catch (Exception e) when (e is not
            (InvalidDataException or OtherImageFormatException or OtherImmortalException or SuspendedCallsChangedException
                or OutOfMemoryException))
        {
            // Its bytes are those that were written: the coordinator has checked the file, and the session the hash of all of it.
            throw new InvalidDataException($"The image does not fit this app: {e.Message}", e);
        }
    }

    /// <summary>Reads an image up to its types, and says where its suspended methods go on in this build.</summary>
    private static CborReader Check(ReadOnlySpan<byte> image, bool acceptSource, out BodyFindings bodies)
    {
        var from = new CborReader(image);
        CheckFormat(ref from);
        bodies = MethodBodyCheck.Judge(ref from,
            static name => TypeNames.AssemblyNamed(name) is { } found ? MethodBodyTable.Of(found).Known : null, acceptSource);
        return from;
    }

    /// <summary>Reads the name and the version of the image's format, by which an image of another binding is known.</summary>
    private static void CheckFormat(ref CborReader from)
    {
        int items = from.PeekKind() == CborKind.Array ? from.ReadArrayHeader() : 0;
        if (items > 0 && from.PeekKind() == CborKind.Unsigned) // as in images before version 8, which did not name their format
            throw new OtherImageFormatException($"{FormatName} of version {from.ReadUInt64()}", $"{FormatName} of version {Version}");
        if (items < 2 || from.PeekKind() != CborKind.Text)
            throw new OtherImageFormatException("a format that it does not name", $"{FormatName} of version {Version}");
        string format = from.ReadString();
        ulong version = from.PeekKind() == CborKind.Unsigned ? from.ReadUInt64() : 0;
        if (format != FormatName || version != Version)
            throw new OtherImageFormatException($"{format} of version {version}", $"{FormatName} of version {Version}");
        if (items != 5) throw new InvalidDataException($"The image has {items} parts instead of 5.");
    }

    private static int StateOf(ISuspended waiter)
    {
        object machine = waiter.BoxedMachine;
        return machine.GetType()
            .GetField("<>1__state", BindingFlags.Instance | BindingFlags.Public | BindingFlags.NonPublic)?.GetValue(machine) as int? ?? -1;
    }
}

/// <summary>Another binding, or another version of this one, has written the image; nothing was restored.</summary>
internal sealed class OtherImageFormatException(string found, string known)
    : Exception($"The checkpoint's image has the format {found}; this app reads {known}. Nothing is lost: start the app that wrote it.");

/// <summary>The image holds the state of another immortal than this app's; nothing was restored.</summary>
internal sealed class OtherImmortalException(Type? found, Type own)
    : Exception($"The checkpoint's image holds a {found}, and this app is a {own}. Nothing is lost: start the app that wrote it.");
