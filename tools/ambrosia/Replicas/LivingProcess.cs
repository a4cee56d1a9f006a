namespace Ambrosia.Tools.Replicas;

/// <summary>
/// Knows a process of this machine by its id and the time of its start, so that no later process with that id is taken for it. Immutable.
/// </summary>
internal sealed record LivingProcess(int Id, string Started)
{
    /// <summary>Field 22 of <c>/proc/ID/stat</c> is the time of the start (proc(5)); fields count from behind the name here.</summary>
    private const int StateAt = 0, StartedAt = 19;

    /// <summary>Gets the process with this id, or null if there is none; one that has ended and waits for its parent is none.</summary>
    public static LivingProcess? Of(int id)
    {
        try
        {
            string line = File.ReadAllText($"/proc/{id}/stat");
            string[] fields = line[(line.LastIndexOf(')') + 1)..].Split(' ', StringSplitOptions.RemoveEmptyEntries);
            return fields.Length <= StartedAt || fields[StateAt] is "Z" or "X" ? null : new LivingProcess(id, fields[StartedAt]);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            return null;
        }
    }

    /// <summary>Gets whether the process is still there.</summary>
    public bool IsThere() => Of(Id) == this;
}
