using Ambrosia.Checkpoints;
using Ambrosia.Failures;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Payloads;

namespace Ambrosia.Session;

/// <summary>
/// Makes the state of this app's version of the image that an app of the version before has written, which runs in a process of its own
/// (protocol P5.25): by the constructor from the old class, where this app has both, or else types and fields are found by their names. The
/// session executes nothing; it holds the image until it is asked for what becomes of it, once. Thread: the scheduler's.
/// </summary>
/// <param name="executor">It sends what comes out.</param>
/// <param name="reshaping">It makes the new state where this app has the class of the version before; null: names do.</param>
/// <param name="newRuntime">Makes a runtime whose output nobody takes.</param>
internal sealed class ImageConversion(
    RecordExecutor executor, (uint From, uint To) versions, SessionOptions options, StateConversion? reshaping,
    Func<ImmortalRuntime> newRuntime) : IDisposable
{
    private ImageReceiver? _received;
    private LargeBuffer? _image;

    /// <summary>The image has come whole.</summary>
    /// <param name="received">It owns the memory of the image.</param>
    internal void Keep(ImageReceiver received, LargeBuffer image) => (_received, _image) = (received, image);

    /// <summary>Does what the coordinator asks.</summary>
    /// <exception cref="ProtocolViolation">P5.25: other versions, another use, or a second time.</exception>
    internal void Take(ConvertFrame frame)
    {
        if ((frame.From, frame.To) != versions || frame.Use is not (ConversionUse.Rehearsal or ConversionUse.Image))
            throw new ProtocolViolation(
                "P5.25", $"a conversion from version {frame.From} to {frame.To} for use {frame.Use}, of an image of {versions.From} by an app of {versions.To}");
        LargeBuffer image = _image ?? throw new ProtocolViolation("P5.25", "a second conversion of one image");
        _image = null;
        using var made = new LargeBuffer();
        ImageEnd end;
        try
        {
            end = frame.Use == ConversionUse.Rehearsal ? Rehearse(image, made) : Convert(image, made);
        }
        catch (Exception e) when (e is not (ProtocolViolation or ChannelEnded))
        {
            options.Log($"The state of version {versions.From} cannot become one of version {versions.To}: {e}");
            Answer(frame.Use, default, StateConversion.WhyNot(e));
            return;
        }
        if (frame.Use == ConversionUse.Rehearsal) Answer(frame.Use, end);
        else executor.SendImage(made, end);
    }

    private ImageEnd Convert(LargeBuffer from, LargeBuffer to)
    {
        using WrittenImage written = Converted(from);
        return written.CopyTo(to);
    }

    private WrittenImage Converted(LargeBuffer from, bool tellsPlaces = false)
    {
        if (reshaping is not null) return reshaping.Converted(from, options.AcceptSource, tellsPlaces);
        ImmortalRuntime runtime = newRuntime();
        runtime.Restore(from, options.AcceptSource);
        return runtime.WriteImage(tellsPlaces: tellsPlaces);
    }

    private ImageEnd Rehearse(LargeBuffer from, LargeBuffer to)
    {
        using LargeBuffer kept = Copy(from); // reading an image gives its memory back
        ImageEnd end = Convert(from, to);
        string? differs = StateConversion.WhatDiffers(to, end, tellsPlaces =>
        {
            using LargeBuffer again = Copy(kept);
            return Converted(again, tellsPlaces);
        });
        if (differs is not null) throw new ConversionDiffersException(differs);
        using LargeBuffer proved = Copy(to);
        Prove(proved, end);
        return end;
    }

    private static LargeBuffer Copy(LargeBuffer of)
    {
        var copy = new LargeBuffer();
        for (long at = 0; at < of.Length; at = copy.Length) copy.Append(of.From(at));
        return copy;
    }

    /// <summary>
    /// Proves what an upgrade relies on: the new state is whole, so it can be read and written again, and OnUpgraded does not throw.
    /// </summary>
    private void Prove(LargeBuffer image, ImageEnd known)
    {
        ImmortalRuntime next = newRuntime();
        next.Restore(image, options.AcceptSource);
        using WrittenImage again = next.WriteImage();
        if (again.Measure() != known) throw new ConversionDiffersException("gave a state that is another one when it is restored");
        using (next.Scheduler.Enter()) next.Upgraded(versions.From);
        FirstSteps.Take(next, next.Immortal!.GetType(), executor.Welcome, options);
    }

    private void Answer(ConversionUse use, ImageEnd image, string why = "") =>
        executor.Runtime.Outbound.Write(new ConvertedFrame(executor.Progress.Executed, use, image.Length, image.Hash, why));

    public void Dispose() => _received?.Dispose();
}
