namespace Ambrosia.Log;

/// <summary>
/// Named places at which a test may end the process or the simulated machine. <see cref="Hit"/> returns when nothing is to happen there;
/// it may throw to unwind a simulated process, never anything else.
/// </summary>
public interface ICrashPoints
{
    void Hit(string name);

    /// <summary>False when <see cref="Hit"/> would do nothing there, so that the steps on both sides may be done as one.</summary>
    bool IsArmed(string name) => true;
}
