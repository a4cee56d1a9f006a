namespace Ambrosia.EndToEnd.Tests.Debugger;

/// <summary>A test with a debugger; skipped, with the reason, where the runtime brings none of its parts.</summary>
[AttributeUsage(AttributeTargets.Method)]
public sealed class DebuggerFactAttribute : FactAttribute
{
    public DebuggerFactAttribute()
    {
        if (AppDebugger.WhyNot() is { } why) Skip = why;
    }
}
