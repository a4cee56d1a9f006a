using Ambrosia.Failures;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Payloads;
using Ambrosia.Suspension;

namespace Ambrosia.Session;

/// <summary>
/// Turns the state of an app's former version into that of its newest one where the coordinator asks for it (protocol P5.25): to try
/// whether it can be done, for the checkpoint that the newest version begins with, and to go on with it. Invariant: until it is to go on,
/// the running immortal is as if nothing had been asked. Thread: the scheduler's, between records.
/// </summary>
/// <param name="newRuntime">Makes a runtime of the newest version on the session's output, in the place of another one.</param>
internal sealed class VersionChange(
    RecordExecutor executor, StateConversion conversion, (uint From, uint To) versions, SessionOptions options,
    Func<ImmortalRuntime, ImmortalRuntime> newRuntime)
{
    /// <summary>What the state at a place became, which waits to be gone on with; null: nothing was converted there.</summary>
    private (Lsn At, ImmortalRuntime Runtime, ImageEnd Image)? _ready;

    /// <summary>Does what the coordinator asks.</summary>
    /// <exception cref="ProtocolViolation">P5.25: other versions, or another place.</exception>
    /// <exception cref="AppFailed">The app was to go on as the newest version, and cannot.</exception>
    internal void Take(ConvertFrame frame)
    {
        if ((frame.From, frame.To) != versions || executor.Version != frame.From)
            throw new ProtocolViolation(
                "P5.25", $"a conversion from version {frame.From} to {frame.To}, of an app that runs version {executor.Version}");
        if (frame.Position != Lsn.Zero && frame.Position < executor.Progress.Executed)
            throw new ProtocolViolation("P5.25", $"a conversion at {frame.Position} behind {executor.Progress.Executed}");
        if (frame.Use == ConversionUse.Switch)
        {
            GoOn();
            return;
        }
        try
        {
            if (executor.Runtime.Immortal is null) throw new InvalidOperationException("there is no state before the first record");
            if (frame.Use == ConversionUse.Rehearsal) Answer(frame.Use, conversion.Rehearse(executor.Runtime, versions.From));
            else SendImage();
        }
        catch (Exception e) when (e is not (ProtocolViolation or ChannelEnded))
        {
            _ready = null;
            options.Log($"Version {versions.From} cannot become version {versions.To}: {e}");
            Answer(frame.Use, default, StateConversion.WhyNot(e));
        }
    }

    /// <summary>The new runtime is made before its image is sent: what cannot be read again is not converted.</summary>
    private void SendImage()
    {
        using var image = new LargeBuffer();
        Prepare(image);
        executor.SendImage(image, _ready!.Value.Image);
    }

    private void GoOn()
    {
        if (_ready?.At != executor.Progress.Executed)
        {
            try
            {
                using var image = new LargeBuffer();
                Prepare(image);
                if (conversion.WhatDiffers(executor.Runtime, image, _ready!.Value.Image) is { } differs)
                    options.Log($"{new ConversionDiffersException(differs).Message} If the log states another state, this replica ends.");
            }
            catch (Exception e) when (e is not (ProtocolViolation or ChannelEnded))
            {
                throw new AppFailed($"Version {versions.From} cannot become version {versions.To}", e);
            }
        }
        (_, ImmortalRuntime next, ImageEnd known) = _ready!.Value;
        _ready = null;
        executor.GoOnWith(next, versions.To);
        Answer(ConversionUse.Switch, known);
    }

    private void Prepare(LargeBuffer image)
    {
        ImageEnd end = conversion.Convert(executor.Runtime, image);
        using var read = new LargeBuffer(); // reading gives back memory as it goes, and the image is wanted afterwards
        for (long at = 0; at < image.Length; at = read.Length) read.Append(image.From(at));
        ImmortalRuntime next = newRuntime(executor.Runtime);
        next.Restore(read, options.AcceptSource);
        _ready = (executor.Progress.Executed, next, end);
    }

    private void Answer(ConversionUse use, ImageEnd image, string why = "") =>
        executor.Runtime.Outbound.Write(new ConvertedFrame(executor.Progress.Executed, use, image.Length, image.Hash, why));
}
