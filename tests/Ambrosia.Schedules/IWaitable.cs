namespace Ambrosia.Schedules;

/// <summary>Something that a controlled thread waits for. It is asked while no other controlled thread runs.</summary>
public interface IWaitable
{
    /// <summary>Returns whether the thread could go on now.</summary>
    bool CanGo(ControlledThread thread);
}
