using Ambrosia.Coordinator.Views;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;

namespace Ambrosia.Coordinator.Hosting;

/// <summary>Says where a view has stopped: everything before the place is executed, and it is not.</summary>
/// <param name="IsEnd">The log ends here, before what was asked for.</param>
/// <param name="Emitted">The app has emitted this since the stop before, if it has executed one message since, or if all is kept.</param>
public sealed record ViewStop(MessagePlace Place, bool IsEnd, ViewedEmissions Emitted)
{
    /// <summary>Whoever looks has asked for it; false: the user of the app's debugger has gone on.</summary>
    public bool IsAsked { get; init; } = true;

    /// <summary>
    /// The app has executed so long for each method since the stop before; none unless <see cref="ViewOptions.MeasuresHandlers"/>.
    /// </summary>
    public IReadOnlyList<HandlerTime> Times { get; init; } = [];
}
