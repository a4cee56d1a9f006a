namespace Ambrosia.Log.Files;

/// <summary>
/// Knows the named places between file operations at which a test may end the process or the simulated machine. <see cref="Hit"/> returns
/// when nothing is to happen there. It may throw to unwind a simulated process, and it throws for no other reason.
/// </summary>
public interface ICrashPoints
{
    /// <summary>The crash points of a process that no test wants to end.</summary>
    static ICrashPoints None { get; } = new NoCrashPoints();

    /// <summary>Tells that the caller has come to the place of this name.</summary>
    void Hit(string name);

    /// <summary>
    /// False when <see cref="Hit"/> would do nothing at this place, so that the caller may do the steps on both sides of it as one.
    /// </summary>
    bool IsArmed(string name) => true;
}

internal sealed class NoCrashPoints : ICrashPoints
{
    public void Hit(string name)
    {
    }

    public bool IsArmed(string name) => false;
}
