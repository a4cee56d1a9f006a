using Ambrosia.Log.Files;

namespace Ambrosia.Coordinator.Replica;

/// <summary>
/// Marks the steps of the protocol at which a test may kill the process (docs/testing.md lists them). It does nothing unless a test armed
/// it, which happens once, before the first part runs.
/// </summary>
internal static class Crash
{
    private static ICrashPoints? s_armed;

    public static ICrashPoints Points { get; private set; } = new Inert();

    public static void Arm(ICrashPoints points) => Points = s_armed = points;

    public static void Hit(string name) => s_armed?.Hit(name);

    private sealed class Inert : ICrashPoints
    {
        public void Hit(string name) { }

        public bool IsArmed(string name) => false;
    }
}
