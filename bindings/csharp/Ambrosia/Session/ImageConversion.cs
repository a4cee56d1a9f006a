using Ambrosia.Checkpoints;
using Ambrosia.Failures;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Payloads;

namespace Ambrosia.Session;

/// <summary>
/// Makes the state of this app's version of the image that an app of the version before has written, which runs in a process of its own
/// (protocol P5.25): types and fields are found by their names. The session executes nothing; it holds the image until it is asked for what
/// becomes of it, once. Thread: the scheduler's.
/// </summary>
/// <param name="executor">It sends what comes out.</param>
/// <param name="newRuntime">Makes a runtime whose output nobody takes.</param>
internal sealed class ImageConversion(
    RecordExecutor executor, (uint From, uint To) versions, SessionOptions options, Func<ImmortalRuntime> newRuntime) : IDisposable
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
            end = Convert(image, made);
            if (frame.Use == ConversionUse.Rehearsal) Prove(made, end);
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
        ImmortalRuntime runtime = newRuntime();
        runtime.Restore(from, options.AcceptSource);
        using WrittenImage written = runtime.WriteImage();
        return written.CopyTo(to);
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
    }

    private void Answer(ConversionUse use, ImageEnd image, string why = "") =>
        executor.Runtime.Outbound.Write(new ConvertedFrame(executor.Progress.Executed, use, image.Length, image.Hash, why));

    public void Dispose() => _received?.Dispose();
}
