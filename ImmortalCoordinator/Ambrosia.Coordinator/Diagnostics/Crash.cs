using Ambrosia.Log;

namespace Ambrosia.Coordinator;

/// <summary>
/// The named steps of the protocol at which a test may kill the process (docs/testing.md lists them). Inert unless a test armed it;
/// set once, before the first part runs.
/// </summary>
internal static class Crash
{
    private static ICrashPoints? armed;

    public static ICrashPoints Points { get; private set; } = new Inert();

    public static void Arm(ICrashPoints points) => Points = armed = points;

    public static void Hit(string name) => armed?.Hit(name);

    private sealed class Inert : ICrashPoints
    {
        public void Hit(string name) { }

        public bool IsArmed(string name) => false;
    }
}
