using Ambrosia.Coordinator.Views;
using Ambrosia.Protocol;

namespace Ambrosia.Coordinator.Hosting;

/// <summary>Says where a view has stopped: everything before the place is executed, and it is not.</summary>
/// <param name="IsEnd">The log ends here, before what was asked for.</param>
/// <param name="Calls">The app has made these calls since the stop before, if it has executed one message since.</param>
public sealed record ViewStop(MessagePlace Place, bool IsEnd, IReadOnlyList<ViewedCall> Calls);
