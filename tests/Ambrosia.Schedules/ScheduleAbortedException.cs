namespace Ambrosia.Schedules;

/// <summary>Unwinds the threads of a schedule that is over.</summary>
public sealed class ScheduleAbortedException() : Exception("the schedule is over");
