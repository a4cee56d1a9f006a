namespace Ambrosia.Log;

/// <summary>
/// Named places at which a test may end the process or the simulated machine. <see cref="Hit"/> returns when nothing is to happen there;
/// it may throw to unwind a simulated process, never anything else.
/// </summary>
public interface ICrashPoints
{
    void Hit(string name);
}
