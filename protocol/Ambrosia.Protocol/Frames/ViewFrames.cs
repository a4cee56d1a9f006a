using Ambrosia.Protocol.Payloads;

namespace Ambrosia.Protocol.Frames;

/// <summary>Says what an app does where a view stops it (protocol P5.24).</summary>
[Flags]
public enum LookFlags : byte
{
    None = 0,

    /// <summary>It sends the image of its state.</summary>
    Image = 1,

    /// <summary>It lets an attached debugger break there, and says when its user goes on.</summary>
    Break = 2,

    /// <summary>The place is the next message behind the one where it stands; the frame names none.</summary>
    Next = 4,

    /// <summary>It says how long it has executed for each method since it stopped last.</summary>
    Times = 8,
}

/// <summary>Tells the app of a view where to stop (protocol P5.24): before this message.</summary>
/// <param name="Place">Everything before it is executed. Zero with <see cref="LookFlags.Next"/>.</param>
public readonly record struct Look(MessagePlace Place, LookFlags Flags) : IFramePayload<Look>
{
    private const LookFlags All = LookFlags.Image | LookFlags.Break | LookFlags.Next | LookFlags.Times;

    public static FrameType Type => FrameType.Look;

    public int BytesMax => ExecutingFrame.Bytes + 1;

    public void Write(ref PayloadWriter to)
    {
        to.Place(Place);
        to.U8((byte)Flags);
    }

    public static Look Read(ReadOnlySpan<byte> payload)
    {
        var from = PayloadReader.OfFrame(payload, "P5.24");
        var look = new Look(from.Place(), (LookFlags)from.U8());
        from.End();
        if ((look.Flags & ~All) != 0) throw from.Violation("P1.6", $"look with flags {(byte)look.Flags}");
        if (look.Flags.HasFlag(LookFlags.Next) && look.Place != default)
            throw from.Violation("P5.24", $"look for the next message that names {look.Place}");
        return look;
    }
}

/// <summary>The app of a view says that it has stopped (protocol P5.24): everything before this place is executed, and it is not.</summary>
public readonly record struct Seen(MessagePlace Place) : IFramePayload<Seen>
{
    private const byte HasStopped = 0, DebuggerGoesOn = 1;

    private readonly IReadOnlyList<HandlerTime>? _times;

    public static FrameType Type => FrameType.Seen;

    /// <summary>It stands there since it said so last, and its debugger's user goes on.</summary>
    public bool GoesOn { get; init; }

    /// <summary>It has executed so long since it stopped last, by method in ascending order; none unless it was asked for.</summary>
    public IReadOnlyList<HandlerTime> Times { get => _times ?? []; init => _times = value; }

    public int BytesMax => ExecutingFrame.Bytes + 1 + HandlerTime.BytesMaxOf(Times.Count);

    public void Write(ref PayloadWriter to)
    {
        to.Place(Place);
        to.U8(GoesOn ? DebuggerGoesOn : HasStopped);
        HandlerTime.Write(ref to, Times);
    }

    public static Seen Read(ReadOnlySpan<byte> payload)
    {
        var from = PayloadReader.OfFrame(payload, "P5.24");
        MessagePlace place = from.Place();
        byte why = from.U8();
        if (why > DebuggerGoesOn) throw from.Violation("P1.6", $"seen with reason {why}");
        var seen = new Seen(place) { GoesOn = why == DebuggerGoesOn, Times = HandlerTime.ReadAll(ref from) };
        from.End();
        return seen;
    }
}
