using Ambrosia.Protocol.Payloads;

namespace Ambrosia.Protocol.Frames;

/// <summary>Says what becomes of the state that an app has converted (protocol P5.25).</summary>
public enum ConversionUse : byte
{
    /// <summary>The app only tries whether it can, and goes on as it was.</summary>
    Rehearsal = 0,

    /// <summary>The app sends the image of the new version, and goes on as it was.</summary>
    Image = 1,

    /// <summary>The app goes on as the new version.</summary>
    Switch = 2,

    /// <summary>The app sends its state as it is, for an app of another version to convert, and goes on as it was.</summary>
    State = 3,
}

/// <summary>Asks an app for its state as a later version has it, or as it is (protocol P5.25).</summary>
/// <param name="Position">Everything below is executed; zero, where nothing goes on from there: wherever the app stands.</param>
/// <param name="From">The version that the app executes, or whose image it was given.</param>
/// <param name="To">The version that is wanted; the same for the state as it is.</param>
public readonly record struct ConvertFrame(Lsn Position, uint From, uint To, ConversionUse Use) : IFramePayload<ConvertFrame>
{
    public static FrameType Type => FrameType.Convert;

    public int BytesMax => 8 + 4 + 4 + 1;

    public void Write(ref PayloadWriter to)
    {
        to.U64(Position.Value);
        to.U32(From);
        to.U32(To);
        to.U8((byte)Use);
    }

    public static ConvertFrame Read(ReadOnlySpan<byte> payload)
    {
        var from = PayloadReader.OfFrame(payload, "P5.25");
        var convert = new ConvertFrame(from.Lsn(), from.U32(), from.U32(), (ConversionUse)from.U8());
        from.End();
        if (convert.Use > ConversionUse.State) throw from.Violation("P5.25", $"a conversion for use {(byte)convert.Use}");
        bool ascends = convert.Use == ConversionUse.State ? convert.To == convert.From : convert.To > convert.From;
        if (convert.From == 0 || !ascends) throw from.Violation("P5.25", $"a conversion from version {convert.From} to {convert.To}");
        return convert;
    }
}

/// <summary>The app answers a conversion (protocol P5.25), but for the image of another version that it has sent.</summary>
/// <param name="Position">Everything below is executed, and nothing else.</param>
/// <param name="Length">Bytes of the image that the state of the new version has; 0 where there is none.</param>
/// <param name="Hash">CRC-64/NVME of that image.</param>
/// <param name="Why">
/// The state cannot be converted, or sent as it is, for this reason, and the app goes on as it was; empty: it was converted, or follows.
/// </param>
public sealed record ConvertedFrame(Lsn Position, ConversionUse Use, ulong Length, ulong Hash, string Why) : IFramePayload<ConvertedFrame>
{
    /// <summary>A reason has at most so many bytes; a longer one is cut.</summary>
    public const int WhyBytesMax = 2048;

    public static FrameType Type => FrameType.Converted;

    public int BytesMax => 8 + 1 + 8 + 8 + 2 + WhyBytesMax;

    public void Write(ref PayloadWriter to)
    {
        to.U64(Position.Value);
        to.U8((byte)Use);
        to.U64(Length);
        to.U64(Hash);
        to.CutString(Why, WhyBytesMax);
    }

    public static ConvertedFrame Read(ReadOnlySpan<byte> payload)
    {
        var from = PayloadReader.OfFrame(payload, "P5.25");
        var converted = new ConvertedFrame(from.Lsn(), (ConversionUse)from.U8(), from.U64(), from.U64(), from.String(WhyBytesMax));
        from.End();
        if (converted.Use > ConversionUse.State) throw from.Violation("P5.25", $"a conversion for use {(byte)converted.Use}");
        bool isRefused = converted.Why.Length > 0, isEmpty = converted is { Length: 0, Hash: 0 };
        bool isRight = converted.Use switch
        {
            ConversionUse.Rehearsal => !isRefused || isEmpty,
            ConversionUse.Image => isRefused && isEmpty,
            ConversionUse.Switch => !isRefused,
            _ => isEmpty
        };
        if (!isRight)
            throw from.Violation("P5.25", $"an answer to a conversion that contradicts itself, for use {converted.Use}");
        return converted;
    }
}
