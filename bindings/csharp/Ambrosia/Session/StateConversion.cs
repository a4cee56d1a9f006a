using Ambrosia.Checkpoints;
using Ambrosia.Outbound;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Payloads;

namespace Ambrosia.Session;

/// <summary>
/// Converts the state of one version of an app into that of the next: by the constructor that makes an immortal of the new class of one of
/// the old class. It works on copies, in runtimes whose output nobody takes. So a conversion that fails, or whose result is not used,
/// leaves the running immortal, its randomness and its coordinator as they are. Thread: the scheduler's, between records.
/// </summary>
/// <param name="from">The class that runs.</param>
/// <param name="to">The class that takes its place.</param>
/// <param name="make">Makes an immortal of the new class of one of the old class. It is a pure function of that.</param>
/// <param name="welcome">That of the running session.</param>
/// <param name="options">Those of the running session.</param>
internal sealed class StateConversion(
    ImmortalDefinition from, ImmortalDefinition to, Func<Immortal, Immortal> make, AppWelcome welcome, SessionOptions options)
{
    /// <summary>Converts the state of a runtime, and appends the new image to a buffer. The runtime can go on.</summary>
    /// <exception cref="NotInConversionException">The constructor sends, waits, or begins a timer or a task.</exception>
    /// <exception cref="NotWritableException">The old state, or the new one, cannot be written.</exception>
    internal ImageEnd Convert(ImmortalRuntime running, LargeBuffer image)
    {
        using WrittenImage converted = Converted(running);
        return converted.CopyTo(image);
    }

    private WrittenImage Converted(ImmortalRuntime running, bool tellsPlaces = false)
    {
        using var old = new LargeBuffer();
        using (WrittenImage written = running.WriteImage()) written.CopyTo(old);
        return Converted(old, acceptSource: true, tellsPlaces); // this process has written it
    }

    /// <summary>Converts a state that another process may have written, and that is read up here.</summary>
    internal WrittenImage Converted(LargeBuffer old, bool acceptSource, bool tellsPlaces = false)
    {
        ImmortalRuntime copy = NewRuntime(from);
        copy.Restore(old, acceptSource);
        return copy.Succeed(make, tellsPlaces);
    }

    /// <summary>
    /// Converts the state of a runtime as an upgrade would, and proves what that relies on: a second conversion gives the same bytes, the
    /// new class restores them, and writes them again as they are, and its OnUpgraded does not throw. It returns what the image is known
    /// by.
    /// </summary>
    /// <param name="version">The version that runs.</param>
    /// <exception cref="NotInConversionException">The constructor sends, waits, or begins a timer or a task.</exception>
    /// <exception cref="NotWritableException">The old state, or the new one, cannot be written.</exception>
    /// <exception cref="SuspendedCallsChangedException">Suspended methods have other bodies in the new class.</exception>
    /// <exception cref="ConversionDiffersException">It is not a function of the old state, or the new one is not whole.</exception>
    internal ImageEnd Rehearse(ImmortalRuntime running, uint version)
    {
        using var image = new LargeBuffer();
        ImageEnd first = Convert(running, image);
        if (WhatDiffers(running, image, first) is { } differs) throw new ConversionDiffersException(differs);
        ImmortalRuntime next = NewRuntime(to);
        next.Restore(image, options.AcceptSource);
        using WrittenImage again = next.WriteImage();
        if (again.Measure() != first) throw new ConversionDiffersException("gave a state that is another one when it is restored");
        using (next.Scheduler.Enter()) next.Upgraded(version);
        FirstSteps.Take(next, to.Type, welcome, options);
        return first;
    }

    /// <summary>Converts the same state once more; says what is other than the first time, null: nothing.</summary>
    internal string? WhatDiffers(ImmortalRuntime running, LargeBuffer image, ImageEnd known) =>
        WhatDiffers(image, known, tellsPlaces => Converted(running, tellsPlaces));

    /// <summary>Repeats a conversion; says what is other than the first time, null: nothing.</summary>
    /// <param name="again">Converts; told whether places will be asked for.</param>
    internal static string? WhatDiffers(LargeBuffer image, ImageEnd known, Func<bool, WrittenImage> again)
    {
        using (WrittenImage repeated = again(false))
            if (repeated.Measure() == known) return null;
        using WrittenImage placed = again(true);
        return $"gave another state when it was repeated; they differ in {placed.PlaceOfDifference(image) ?? "the number of objects"}";
    }

    private ImmortalRuntime NewRuntime(ImmortalDefinition definition) => NewSilentRuntime(definition, welcome, options);

    /// <summary>Gives what a refusal says. Of what the app's own code throws, the type says as much as the text.</summary>
    internal static string WhyNot(Exception refusal) =>
        refusal is NotInConversionException or NotWritableException or SuspendedCallsChangedException or ConversionDiffersException
            or OtherImmortalException or OtherImageFormatException or InvalidDataException
            ? refusal.Message : $"{refusal.GetType().FullName}: {refusal.Message}";

    /// <summary>Makes a runtime that tries something: what the app logs in it goes nowhere.</summary>
    /// <param name="output">Null: nobody takes what it puts out.</param>
    internal static ImmortalRuntime NewSilentRuntime(
        ImmortalDefinition definition, AppWelcome welcome, SessionOptions options, SessionOutput? output = null)
    {
        output ??= new SessionOutput(options.ImpulseBytesMax);
        return new ImmortalRuntime(
            definition, welcome, output.Buffer, output.NewIngress(),
            options with { Log = static _ => { }, LogOfImmortal = static (_, _) => { } });
    }
}

/// <summary>A conversion is not the pure function that recovery relies on.</summary>
internal sealed class ConversionDiffersException(string how) : Exception(
    $"The conversion {how}. It must be a function of the old state alone: no clock, no environment, no identity of objects, "
    + "no order of a hash table.");
