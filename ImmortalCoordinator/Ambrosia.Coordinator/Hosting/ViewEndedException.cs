namespace Ambrosia.Coordinator.Hosting;

/// <summary>Tells that a view is over, and why.</summary>
/// <param name="code">The exit code that says it.</param>
public sealed class ViewEndedException(int code, string why) : Exception(why)
{
    public int Code { get; } = code;
}
