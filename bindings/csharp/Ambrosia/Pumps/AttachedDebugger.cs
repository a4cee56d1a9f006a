using System.Diagnostics;

namespace Ambrosia.Pumps;

/// <summary>Is the debugger of this process.</summary>
internal interface IDebugger
{
    /// <summary>A debugger is attached now.</summary>
    bool IsAttached { get; }

    /// <summary>Stops in the debugger, and comes back when its user goes on.</summary>
    void Break();
}

/// <summary>Gives the debugger that the runtime knows of.</summary>
internal sealed class AttachedDebugger : IDebugger
{
    public bool IsAttached => Debugger.IsAttached;

    [DebuggerHidden] // the user stands where the message begins, not here
    public void Break() => Debugger.Break();
}
